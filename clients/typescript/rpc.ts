import type {
  DescMessage,
  DescMethodServerStreaming,
  DescMethodUnary,
  MessageInitShape,
  MessageShape,
} from '@bufbuild/protobuf';
import { createConnectTransport } from '@connectrpc/connect-web';
import { brokenConnection, errorOfStream, errorOfUnary } from './error.ts';
import { requireFieldNames } from './request-fields.ts';

/** Options of a single attempt of an RPC. */
export interface AttemptOptions {
  headers: Record<string, string>;
  signal: AbortSignal | undefined;
}

/** Response of a unary RPC. */
export interface UnaryResponse<O extends DescMessage> {
  message: MessageShape<O>;
  header: Headers;
}

/**
 * RPCs of a service. They reject with a GleanerError, with the signal's reason, or with a TypeError
 * for a request with a misspelled field.
 */
export interface Rpc {
  unary<I extends DescMessage, O extends DescMessage>(
    method: DescMethodUnary<I, O>,
    request: MessageInitShape<I>,
    options: AttemptOptions,
  ): Promise<UnaryResponse<O>>;
  stream<I extends DescMessage, O extends DescMessage>(
    method: DescMethodServerStreaming<I, O>,
    request: MessageInitShape<I>,
    options: AttemptOptions,
  ): Promise<AsyncIterable<MessageShape<O>>>;
}

/**
 * Creates RPCs over Connect's transport for `fetch`, in the binary format, with a `fetch` of
 * createFetch().
 */
export function createRpc(baseUrl: string, fetch: typeof globalThis.fetch): Rpc {
  const transport = createConnectTransport({
    baseUrl,
    useBinaryFormat: true,
    fetch: wholeBodies(fetch),
  });
  return {
    async unary(method, request, { headers, signal }) {
      requireFieldNames(method.input, request);
      try {
        return await transport.unary(method, signal, undefined, headers, request);
      } catch (error) {
        signal?.throwIfAborted();
        throw errorOfUnary(error, method.name);
      }
    },
    async stream(method, request, { headers, signal }) {
      requireFieldNames(method.input, request);
      const failed = (error: unknown): unknown => {
        signal?.throwIfAborted();
        return errorOfStream(error);
      };
      async function* input() {
        yield request;
      }
      const response = await transport
        .stream(method, signal, undefined, headers, input())
        .catch((error) => {
          throw failed(error);
        });
      return (async function* () {
        try {
          yield* response.message;
        } catch (error) {
          throw failed(error);
        }
      })();
    },
  };
}

/**
 * Reads bodies of unary responses before Connect does, which cannot tell a broken connection from a
 * bad message.
 */
function wholeBodies(fetch: typeof globalThis.fetch): typeof globalThis.fetch {
  return async (input, init) => {
    const response = await fetch(input, init);
    const { status, headers } = response;
    if (headers.get('content-type')?.startsWith('application/connect+')) return response;
    const body = await response.arrayBuffer().catch((error: Error) => {
      throw error.name === 'AbortError' ? error : brokenConnection(error);
    });
    return new Response(body, { status, headers });
  };
}
