import type { OutgoingHttpHeaders, ServerResponse } from 'node:http';
import type { UniversalServerResponse } from '@connectrpc/connect/protocol';
import { universalResponseToNodeResponse } from '@connectrpc/connect-node';
import type { RpcExchange } from './exchange.ts';

/** Messages of calls that Connect refuses without a body. */
const refusals: Readonly<Record<number, string>> = {
  405: 'This method takes POST only.',
  415: 'Content-Type is not supported: send application/json, application/proto, application/grpc, or application/grpc-web.',
  505: 'This method needs HTTP/2.',
};

/** Kind of a response: one message, or any number. */
export interface SendOptions {
  isUnary: boolean;
  /** HTTP methods that the called method takes. */
  allowedMethods: readonly string[];
}

/** Sends the response of a Connect handler, with the headers of the exchange. */
export async function sendResponse(
  exchange: RpcExchange,
  result: UniversalServerResponse,
  { isUnary, allowedMethods }: SendOptions,
): Promise<void> {
  const { response, responseHeaders } = exchange;
  const refusal = result.body === undefined ? refusals[result.status] : undefined;
  if (refusal !== undefined) {
    result.header?.forEach((value, name) => void response.setHeader(name, value));
    // HTTP requires it, and Connect does not set it.
    if (result.status === 405) response.setHeader('allow', allowedMethods.join(', '));
    sendText(exchange, result.status, refusal);
  } else if (isUnary) {
    await sendMessage(exchange, result);
  } else {
    for (const name in responseHeaders) response.setHeader(name, responseHeaders[name]!);
    await universalResponseToNodeResponse(result, response);
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
async function sendMessage(
  { response, responseHeaders }: RpcExchange,
  { status, header, body, trailer }: UniversalServerResponse,
): Promise<void> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of body ?? []) chunks.push(chunk);
  // A write would emit an error.
  if (response.closed) return;
  const headers: OutgoingHttpHeaders = { ...responseHeaders };
  header?.forEach((value, name) => {
    headers[name] = value;
  });
  (response as ServerResponse).writeHead(status, headers);
  if (trailer !== undefined) response.addTrailers(Object.fromEntries(trailer));
  (response as ServerResponse).end(chunks.length > 1 ? Buffer.concat(chunks) : chunks[0]);
}
