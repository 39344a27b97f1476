import type { DescMethod, DescMethodServerStreaming, DescMethodUnary, DescService } from '@bufbuild/protobuf';
import { ConnectError, type ConnectRouter, type HandlerContext } from '@connectrpc/connect';
import type { Log } from '../base/log.ts';
import { maxBodyBytes } from '../contract/body-limit.ts';
import { Fault } from '../contract/fault.ts';
import { requestIdHeader } from '../contract/request-id.ts';
import { copyResponseHeaders } from '../contract/response-headers.ts';
import { waitMetadata } from '../contract/wait.ts';
import { createRequestGate } from './adapter.ts';
import { createAdmission } from './admission.ts';
import { fromConnectError, toConnectError } from './fault-detail.ts';
import { type RemoteCore, remoteTimeoutMs } from './remote.ts';

/** Headers of a call that its core asks for. */
const forwarded = [
  'authorization',
  'idempotency_key',
  'idempotency-key',
  'if-none-match',
  requestIdHeader,
  waitMetadata,
];

/**
 * Serves the services on a Connect router by passing every call on to a core elsewhere, in its caller's
 * name: Connect, gRPC-Web and gRPC clients of this process find what they would find there. Callers are
 * authenticated by the core before a body is read. Errors are the core's own with their details;
 * a core that cannot be reached is `Unavailable`.
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
  const answerWith = (header: Headers, { responseHeader }: HandlerContext) => {
    const headers = copyResponseHeaders(header, {});
    for (const name in headers) responseHeader.set(name, headers[name]!);
  };
  const failed = ({ requestHeader, signal }: HandlerContext, thrown: unknown): ConnectError => {
    const error = ConnectError.from(thrown);
    const fault = thrown instanceof Fault ? thrown : fromConnectError(error);
    if (!(thrown instanceof Fault) && (error.isWireError || signal.aborted)) return error;
    if (fault.code === 'unavailable')
      log.warn({ requestId: requestHeader.get(requestIdHeader), err: fault }, 'call not forwarded');
    return toConnectError(fault);
  };

  const admit = createAdmission(remote);
  const optionsOf = (method: DescMethod) => ({
    readMaxBytes: maxBodyBytes(method),
    requestGate: createRequestGate(
      ({ requestHeader, signal }) => admit(method.parent, requestHeader.get('authorization'), signal),
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
              const answer = await transport.stream(
                method as DescMethodServerStreaming,
                AbortSignal.any([context.signal, stopping, left.signal]),
                context.timeoutMs(),
                headersOf(context),
                one(request),
              );
              answerWith(answer.header, context);
              yield* answer.message;
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
            const ask = (signal: AbortSignal) => {
              const timeoutMs = context.timeoutMs() ?? 2 * remoteTimeoutMs;
              return transport.unary(method as DescMethodUnary, signal, timeoutMs, headers, request);
            };
            try {
              const waits = headers.has(waitMetadata);
              const asked = waits ? ask(AbortSignal.any([context.signal, stopping])) : ask(context.signal);
              const answer = await asked.catch((error) => {
                if (!waits || !stopping.aborted || context.signal.aborted) throw error;
                headers.delete(waitMetadata);
                return ask(context.signal);
              });
              answerWith(answer.header, context);
              return answer.message;
            } catch (error) {
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
