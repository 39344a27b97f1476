import type { DescMethod, DescMethodServerStreaming, DescMethodUnary, DescService } from '@bufbuild/protobuf';
import { ConnectError, type ConnectRouter, type HandlerContext } from '@connectrpc/connect';
import { forwardedForHeader } from '../base/client-address.ts';
import type { Log } from '../base/log.ts';
import { maxBodyBytes } from '../contract/body-limit.ts';
import { Fault } from '../contract/fault.ts';
import { requestIdHeader } from '../contract/request-id.ts';
import { copyResponseHeaders } from '../contract/response-headers.ts';
import { submitOptionFields, submitOptionMetadata } from '../contract/submit-options.ts';
import { waitMetadata } from '../contract/wait.ts';
import { createRequestGate, dropResponse } from './adapter.ts';
import { createAdmission } from './admission.ts';
import { recordCallError } from './call-spans.ts';
import { fromConnectError, toConnectError } from './fault-detail.ts';
import { faultOfCall } from './lost-call.ts';
import { type RemoteCore, remoteTimeoutMs } from './remote.ts';

/** Request headers that the core reads. */
const forwarded = [
  'authorization',
  'idempotency_key',
  'idempotency-key',
  'if-none-match',
  forwardedForHeader,
  requestIdHeader,
  waitMetadata,
  ...submitOptionFields.map(submitOptionMetadata),
];

/**
 * Serves the services on a Connect router by forwarding each call to a remote core with its caller's credentials. The
 * core authenticates callers before a body is read. Errors are the core's, with their details; `Unavailable` if the
 * core cannot be reached.
 */
export function routeForward(
  services: readonly DescService[],
  remote: RemoteCore,
  log: Log,
): (router: ConnectRouter) => void {
  const { transport, stopping } = remote;
  const headersOf = ({ requestHeader }: HandlerContext) => {
    const headers = new Headers();
    for (const name of forwarded) {
      const value = requestHeader.get(name);
      if (value !== null) headers.set(name, value);
    }
    return headers;
  };
  const copyHeaders = (header: Headers, { responseHeader }: HandlerContext) => {
    const headers = copyResponseHeaders(header, {});
    for (const name in headers) responseHeader.set(name, headers[name]!);
  };
  const failed = (context: HandlerContext, thrown: unknown): ConnectError => {
    const { requestHeader, signal } = context;
    const error = ConnectError.from(thrown);
    const fault = thrown instanceof Fault ? thrown : fromConnectError(error);
    if (!(thrown instanceof Fault) && (error.isWireError || signal.aborted))
      return recordCallError(context, error);
    if (fault.code === 'unavailable')
      log.warn({ requestId: requestHeader.get(requestIdHeader), err: fault }, 'call not forwarded');
    return recordCallError(context, toConnectError(fault));
  };

  const admit = createAdmission(remote);
  const optionsOf = (method: DescMethod) => ({
    readMaxBytes: maxBodyBytes(method),
    requestGate: createRequestGate(
      ({ requestHeader, signal }) => admit(method, requestHeader, signal),
      failed,
    ),
  });

  return (router) => {
    for (const method of services.flatMap((service) => service.methods)) {
      if (method.methodKind === 'server_streaming') {
        router.rpc(
          method,
          async function* (request: never, context: HandlerContext) {
            const left = new AbortController();
            try {
              const response = await transport.stream(
                method as DescMethodServerStreaming,
                AbortSignal.any([context.signal, stopping, left.signal]),
                context.timeoutMs(),
                headersOf(context),
                one(request),
              );
              copyHeaders(response.header, context);
              yield* response.message;
            } catch (error) {
              throw failed(context, error);
            } finally {
              left.abort();
            }
          } as never,
          optionsOf(method),
        );
      } else {
        router.rpc(
          method as DescMethod,
          (async (request: never, context: HandlerContext) => {
            const headers = headersOf(context);
            const send = (signal: AbortSignal) => {
              const timeoutMs = context.timeoutMs() ?? 2 * remoteTimeoutMs;
              return transport.unary(method as DescMethodUnary, signal, timeoutMs, headers, request);
            };
            try {
              const waits = headers.has(waitMetadata);
              const sent = waits ? send(AbortSignal.any([context.signal, stopping])) : send(context.signal);
              const response = await sent.catch((error) => {
                if (!waits || !stopping.aborted || context.signal.aborted) throw error;
                headers.delete(waitMetadata);
                return send(context.signal);
              });
              copyHeaders(response.header, context);
              return response.message;
            } catch (error) {
              if (!context.signal.aborted && faultOfCall(method, error).unknownOutcome) dropResponse(context);
              throw failed(context, error);
            }
          }) as never,
          optionsOf(method),
        );
      }
    }
  };
}

async function* one<T>(message: T): AsyncGenerator<T> {
  yield message;
}
