import type { DescMethod, DescMethodServerStreaming, DescMethodUnary, Message } from '@bufbuild/protobuf';
import { createClient, type Transport } from '@connectrpc/connect';
import { createGrpcTransport } from '@connectrpc/connect-node';
import { AccountService } from '../../gen/gleaner/account/v1/account_pb.ts';
import { Health, HealthCheckResponse_ServingStatus as Status } from '../../gen/health/v1/health_pb.ts';
import { Fault } from '../contract/fault.ts';
import { copyResponseHeaders, creditsHeader, type ResponseHeaders } from '../contract/response-headers.ts';
import { waitMetadata } from '../contract/wait.ts';
import { fromConnectError } from './fault-detail.ts';

/** How long a remote core may take for a call, beside the time that the call is to wait for a job. */
export const remoteTimeoutMs = 60_000;

/**
 * Metadata of the GetAccount call by which a gateway checks a caller's key. The rate of the key is checked then and
 * counted with the call that follows.
 */
export const admissionMetadata = 'gleaner-admission';

/** A core elsewhere. */
export interface RemoteCore {
  /** Address, for messages. */
  url: string;
  /** gRPC to it. */
  transport: Transport;
  /** Set when this process stops: calls that wait are then answered at once. */
  stopping: AbortSignal;
}

/** Prepares to reach a core; nothing is connected before the first call. */
export function openRemoteCore(url: string, stopping: AbortSignal): RemoteCore {
  return { url, transport: createGrpcTransport({ baseUrl: url }), stopping };
}

/** The gateway's caller for a core elsewhere, by gRPC. Faults are the core's own. */
export function createRemoteCaller({ url, transport, stopping }: RemoteCore) {
  const accounts = createClient(AccountService, transport);
  const health = createClient(Health, transport);
  const faulty = async <T>(call: Promise<T>): Promise<T> => {
    try {
      return await call;
    } catch (error) {
      throw fromConnectError(error);
    }
  };
  return {
    started: () => true,
    async ready() {
      const { status } = await faulty(health.check({}, { timeoutMs: remoteTimeoutMs }));
      if (status !== Status.SERVING)
        throw new Fault('unavailable', `The core at ${url} is not ready.`, { component: 'core' });
    },
    async call(method: DescMethod, message: Message, authorization: string | undefined): Promise<Message> {
      const headers = authorization === undefined ? {} : { authorization };
      const unary = method as DescMethodUnary;
      const answer = transport.unary(unary, undefined, remoteTimeoutMs, headers, message as never);
      return (await faulty(answer)).message;
    },
    async authenticate(headers: Record<string, string | undefined>) {
      const authorization = headers.authorization;
      const sent = { ...(authorization === undefined ? {} : { authorization }) };
      const known: ResponseHeaders = {};
      const options = {
        headers: { ...sent, [admissionMetadata]: '1' },
        timeoutMs: remoteTimeoutMs,
        onHeader: (header: Headers) => void copyResponseHeaders(header, known),
      };
      const { account } = await faulty(accounts.getAccount({}, options));
      return {
        userId: account!.id,
        headers: { ...known, [creditsHeader]: String(account!.balance) } as ResponseHeaders,
        async call(method: DescMethod, message: Message, context: CallContext): Promise<Message> {
          const ask = async (waitMs: number, signal: AbortSignal) => {
            const answer = await transport.unary(
              method as DescMethodUnary,
              signal,
              remoteTimeoutMs + waitMs,
              headersOf(sent, { ...context, waitMs }),
              message as never,
            );
            copyResponseHeaders(answer.header, context.responseHeaders);
            return answer.message;
          };
          const { waitMs, signal } = context;
          if (waitMs === 0 || stopping.aborted) return faulty(ask(0, signal));
          return faulty(
            ask(waitMs, AbortSignal.any([signal, stopping])).catch((error) => {
              if (!stopping.aborted || signal.aborted) throw error;
              return ask(0, signal);
            }),
          );
        },
        async *stream(method: DescMethod, message: Message, context: CallContext): AsyncGenerator<Message> {
          const streaming = method as DescMethodServerStreaming;
          const input = (async function* () {
            yield message as never;
          })();
          // Who reads no further ends the call: it would hold its connection and the core's work.
          const left = new AbortController();
          const signal = AbortSignal.any([context.signal, left.signal]);
          try {
            const call = transport.stream(streaming, signal, undefined, headersOf(sent, context), input);
            const answer = await call;
            copyResponseHeaders(answer.header, context.responseHeaders);
            yield* answer.message;
          } catch (error) {
            throw error instanceof Fault ? error : fromConnectError(error);
          } finally {
            left.abort();
          }
        },
      };
    },
  };
}

function headersOf(
  sent: Record<string, string>,
  { requestId, idempotencyKey, waitMs, ifNoneMatch }: CallContext,
): Headers {
  return new Headers({
    ...sent,
    'x-request-id': requestId,
    ...(idempotencyKey === undefined ? {} : { idempotency_key: idempotencyKey }),
    ...(waitMs === 0 ? {} : { [waitMetadata]: String(waitMs / 1000) }),
    ...(ifNoneMatch === undefined ? {} : { 'if-none-match': ifNoneMatch }),
  });
}

interface CallContext {
  requestId: string;
  idempotencyKey: string | undefined;
  signal: AbortSignal;
  waitMs: number;
  ifNoneMatch: string | undefined;
  responseHeaders: ResponseHeaders;
}
