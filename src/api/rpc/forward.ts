import type { DescMethod, DescMethodServerStreaming, DescMethodUnary, DescService } from '@bufbuild/protobuf';
import { ConnectError, type ConnectRouter, type HandlerContext } from '@connectrpc/connect';
import { forwardedForHeader } from '../../base/client-address.ts';
import type { Log } from '../../base/log.ts';
import { maxBodyBytes } from '../../contract/body-limit.ts';
import { Fault } from '../../contract/fault.ts';
import { requestIdHeader } from '../../contract/request-id.ts';
import { copyResponseHeaders } from '../../contract/response-headers.ts';
import { submitOptionFields, submitOptionMetadata } from '../../contract/submit-options.ts';
import { waitMetadata } from '../../contract/wait.ts';
import { createRequestGate, dropResponse } from './adapter.ts';
import { recordCallError } from './call-spans.ts';
import { fromConnectError, toConnectError } from './fault-detail.ts';
import { createKeyCheck } from './key-check.ts';
import { type RemoteCore, remoteTimeoutMs } from './remote.ts';
import { faultOfCall } from './unknown-outcome.ts';

/** Request headers that name the caller. */
const callerHeaders = ['authorization', forwardedForHeader];

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
 * Serves the services on a Connect router by forwarding each call to a remote core with its caller's
 * credentials. The core authenticates callers before a body is read. Errors are the core's, with their
 * details; `Unavailable` if the core cannot be reached.
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

  const checkKey = createKeyCheck(remote);
  // One call checks the key, whether it allows the method, and its rate limit. The core counts the forwarded
  // call only.
  const admit = async (method: DescMethod, { requestHeader, signal }: HandlerContext): Promise<string> => {
    const headers: Record<string, string> = {};
    for (const name of callerHeaders) {
      const value = requestHeader.get(name);
      if (value !== null) headers[name] = value;
    }
    try {
      const { userId, role } = await checkKey({ headers, signal, timeoutMs: remoteTimeoutMs }, method);
      return role === 'user' ? userId : '';
    } catch (error) {
      throw fromConnectError(error);
    }
  };
  const optionsOf = (method: DescMethod) => ({
    readMaxBytes: maxBodyBytes(method),
    requestGate: createRequestGate((context) => admit(method, context), failed),
  });

  return (router) => {
    for (const method of services.flatMap((service) => service.methods)) {
      if (method.methodKind === 'server_streaming') {
        router.rpc(
          method,
          async function* (request: never, context: HandlerContext) {
            try {
              const response = await transport.stream(
                method as DescMethodServerStreaming,
                AbortSignal.any([context.signal, stopping]),
                context.timeoutMs(),
                headersOf(context),
                one(request),
              );
              copyHeaders(response.header, context);
              yield* response.message;
            } catch (error) {
              throw failed(context, error);
            }
          } as never,
          optionsOf(method),
        );
      } else {
        router.rpc(
          method as DescMethod,
          (async (request: never, context: HandlerContext) => {
            try {
              const timeoutMs = context.timeoutMs() ?? 2 * remoteTimeoutMs;
              const response = await transport.unary(
                method as DescMethodUnary,
                context.signal,
                timeoutMs,
                headersOf(context),
                request,
              );
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
