import type { ServerResponse } from 'node:http';
import type { UniversalServerResponse } from '@connectrpc/connect/protocol';
import { universalResponseToNodeResponse } from '@connectrpc/connect-node';
import type { RpcExchange } from './exchange.ts';
import { encodeMessage, type WrittenResponse } from './unary/response.ts';

/** Messages of calls that Connect refuses without a body. */
const refusals: Readonly<Record<number, string>> = {
  405: 'This method takes POST only.',
  415:
    'Content-Type is not supported: send application/json, ' +
    'application/proto, application/grpc, or application/grpc-web.',
  505: 'This method needs HTTP/2.',
};

/**
 * Sends the response of a Connect handler, with the headers of the exchange. `allowedMethods` are
 * the HTTP methods that the called method takes.
 */
export async function sendResponse(
  exchange: RpcExchange,
  result: UniversalServerResponse,
  allowedMethods: readonly string[],
): Promise<void> {
  const { response, responseHeaders } = exchange;
  const refusal = result.body === undefined ? refusals[result.status] : undefined;
  if (refusal !== undefined) {
    result.header?.forEach((value, name) => void response.setHeader(name, value));
    // HTTP requires it, and Connect does not set it.
    if (result.status === 405) response.setHeader('allow', allowedMethods.join(', '));
    sendText(exchange, result.status, refusal);
  } else {
    for (const name in responseHeaders) response.setHeader(name, responseHeaders[name]!);
    const { body = [], trailer } = result;
    async function* chunks() {
      yield* body;
      if (trailer !== undefined) encodeMessage(trailer);
    }
    await universalResponseToNodeResponse({ ...result, body: chunks() }, response);
  }
}

/**
 * Responds as text: clients derive the code of a call that reached no method from the HTTP status.
 */
export function sendText(
  { response, responseHeaders }: RpcExchange,
  status: number,
  text: string,
): void {
  const headers = { ...responseHeaders, 'content-type': 'text/plain; charset=utf-8' };
  (response as ServerResponse).writeHead(status, headers).end(`${text}\n`);
}

/**
 * Sends the head, the message, and the end of a unary response with one write. Separate writes cost
 * more.
 */
export function sendUnary(
  { response, responseHeaders }: RpcExchange,
  { status, headers, body, trailers }: WrittenResponse,
): void {
  // A write would emit an error.
  if (response.closed) return;
  (response as ServerResponse).writeHead(status, { ...responseHeaders, ...headers });
  if (trailers !== undefined) response.addTrailers(trailers);
  (response as ServerResponse).end(body);
}
