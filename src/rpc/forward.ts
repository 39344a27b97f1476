import type { DescMethod, DescMethodServerStreaming, DescMethodUnary, DescService } from '@bufbuild/protobuf';
import { Code, ConnectError, type ConnectRouter, type HandlerContext } from '@connectrpc/connect';
import { answerHeaderNames } from '../base/answer-headers.ts';
import { maxBodyBytes } from '../base/body-limit.ts';
import { Fault } from '../base/fault.ts';
import { waitMetadata } from '../base/wait.ts';
import { createGate } from './adapter.ts';
import { createAdmission } from './admission.ts';
import { toConnectError } from './fault-detail.ts';
import { type RemoteCore, remoteTimeoutMs } from './remote.ts';

/** Headers of a call that its core asks for. */
const forwarded = [
  'authorization',
  'idempotency_key',
  'idempotency-key',
  'if-none-match',
  'x-request-id',
  waitMetadata,
];

/**
 * Serves the services on a Connect router by passing every call on to a core elsewhere, in its caller's
 * name: Connect, gRPC-Web and gRPC clients of this process find what they would find there. Callers are
 * authenticated by the core before a body is read. Errors are the core's own with their details; one that cannot be reached is `Unavailable`.
 */
export function routeForward(
  services: readonly DescService[],
  remote: RemoteCore,
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
    for (const name of answerHeaderNames) {
      const value = header.get(name);
      if (value !== null) responseHeader.set(name, value);
    }
  };
  const failed = (thrown: unknown, signal?: AbortSignal): ConnectError => {
    if (thrown instanceof Fault) return toConnectError(thrown);
    const error = ConnectError.from(thrown);
    if (error.isWireError || signal?.aborted) return error;
    return new ConnectError('The core is unavailable.', Code.Unavailable, undefined, undefined, thrown);
  };

  const admit = createAdmission(remote);
  const optionsOf = (method: DescMethod) => ({
    readMaxBytes: maxBodyBytes(method),
    requestGate: createGate(
      ({ requestHeader, signal }) => admit(method.parent, requestHeader.get('authorization'), signal),
      (error) => failed(error),
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
              throw failed(error, context.signal);
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
              throw failed(error, context.signal);
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
