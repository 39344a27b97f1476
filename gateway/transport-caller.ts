import { create, type DescMessage, type DescMethod, type MessageShape } from '@bufbuild/protobuf';
import type { Transport } from '@connectrpc/connect';
import type { CallContext, Caller, Headers as RequestHeaders, Session } from '../src/contract/caller.ts';

export interface TransportCallerOptions {
  /** Request headers that are sent with the call, in lower case. Default: `authorization`. */
  forward?: readonly string[];
  /**
   * Identifies the caller of a request for logs and budgets, or throws. Default: everybody is `anonymous`.
   */
  authenticate?: (headers: RequestHeaders, method?: DescMethod) => Promise<string> | string;
}

/**
 * Creates a caller of the services behind a Connect transport: gRPC, gRPC-Web, or Connect servers, or a
 * router in the same process.
 */
export function transportCaller(transport: Transport, options: TransportCallerOptions = {}): Caller {
  const { forward = ['authorization'], authenticate = () => 'anonymous' } = options;
  return {
    async authenticate(headers, method) {
      const userId = await authenticate(headers, method);
      const sent = forward.flatMap((name): [string, string][] =>
        headers[name] === undefined ? [] : [[name, headers[name]]],
      );
      return sessionOf(transport, userId, sent);
    },
  };
}

function sessionOf(transport: Transport, userId: string, sent: readonly [string, string][]): Session {
  const headersOf = ({ requestId }: CallContext) => new Headers([...sent, ['x-request-id', requestId]]);
  const call = async <I extends DescMessage, O extends DescMessage>(
    method: DescMethod & { input: I; output: O },
    message: MessageShape<I>,
    context: CallContext,
  ): Promise<MessageShape<O>> => {
    const unary = method as unknown as Parameters<Transport['unary']>[0];
    const { signal } = context;
    const response = await transport.unary(unary, signal, undefined, headersOf(context), message);
    return response.message as MessageShape<O>;
  };
  return {
    userId,
    call,
    async *stream(method, message, context) {
      if (method.methodKind === 'unary') {
        yield await call(method, message, context);
        return;
      }
      const streaming = method as unknown as Parameters<Transport['stream']>[0];
      const { signal } = context;
      const input = one(create(method.input, message as never));
      const response = await transport.stream(streaming, signal, undefined, headersOf(context), input);
      yield* response.message as AsyncIterable<MessageShape<typeof method.output>>;
    },
  };
}

async function* one<Value>(value: Value): AsyncGenerator<Value> {
  yield value;
}
