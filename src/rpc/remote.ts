import type { DescMethod, DescMethodServerStreaming, DescMethodUnary, Message } from '@bufbuild/protobuf';
import { createClient } from '@connectrpc/connect';
import { createGrpcTransport } from '@connectrpc/connect-node';
import { AccountService } from '../../gen/gleaner/account/v1/account_pb.ts';
import { Health, HealthCheckResponse_ServingStatus as Status } from '../../gen/health/v1/health_pb.ts';
import { Fault } from '../base/fault.ts';
import { fromConnectError } from './fault-detail.ts';

const timeoutMs = 60_000;

/** The gateway's caller for a core elsewhere, by gRPC. Faults are the core's own. */
export function createRemoteCaller(coreUrl: string) {
  const transport = createGrpcTransport({ baseUrl: coreUrl });
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
    async ready() {
      const { status } = await faulty(health.check({}, { timeoutMs }));
      if (status !== Status.SERVING) throw new Fault('unavailable', `The core at ${coreUrl} is not ready.`);
    },
    async authenticate(headers: Record<string, string | undefined>) {
      const authorization = headers.authorization;
      const sent = { ...(authorization === undefined ? {} : { authorization }) };
      const { account } = await faulty(accounts.getAccount({}, { headers: sent, timeoutMs }));
      const headersOf = ({ requestId, idempotencyKey }: CallContext) =>
        new Headers({
          ...sent,
          'x-request-id': requestId,
          ...(idempotencyKey === undefined ? {} : { idempotency_key: idempotencyKey }),
        });
      return {
        userId: account!.id,
        async call(method: DescMethod, message: Message, context: CallContext): Promise<Message> {
          const unary = method as DescMethodUnary;
          const call = transport.unary(
            unary,
            context.signal,
            timeoutMs,
            headersOf(context),
            message as never,
          );
          return (await faulty(call)).message;
        },
        async *stream(method: DescMethod, message: Message, context: CallContext): AsyncGenerator<Message> {
          const streaming = method as DescMethodServerStreaming;
          const input = (async function* () {
            yield message as never;
          })();
          const call = transport.stream(streaming, context.signal, undefined, headersOf(context), input);
          try {
            yield* (await faulty(call)).message;
          } catch (error) {
            throw error instanceof Fault ? error : fromConnectError(error);
          }
        },
      };
    },
  };
}

interface CallContext {
  requestId: string;
  idempotencyKey: string | undefined;
  signal: AbortSignal;
}
