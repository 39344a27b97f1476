import type { IncomingMessage } from 'node:http';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { Exchange } from '../../gateway/exchange.ts';
import { Fault } from '../contract/fault.ts';

/** Maximum bytes of a message. Larger submits use the REST API. */
export const maxMessageBytes = 4 * 1024 * 1024;

/** Reads a body of one JSON-RPC message. Faults `malformed`, `body_too_large`. */
export async function readMessage(request: IncomingMessage): Promise<object> {
  if (request.headers['content-encoding'] !== undefined)
    throw new Fault('malformed', 'Messages must be sent without Content-Encoding.');
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > maxMessageBytes)
      throw new Fault('too_large', `The message has more than ${maxMessageBytes} bytes.`);
    chunks.push(chunk);
  }
  let message: unknown;
  try {
    message = JSON.parse(Buffer.concat(chunks).toString('utf8'));
  } catch {
    throw new Fault('malformed', 'The body is not valid JSON.');
  }
  // A batch would be many calls that the rate limit counts as one.
  if (typeof message !== 'object' || message === null || Array.isArray(message))
    throw new Fault('malformed', 'The body must be one JSON-RPC message.');
  return message;
}

/** Returns the headers that the protocol uses. Credentials stay here. */
export function protocolHeaders({ headers }: IncomingMessage): Record<string, string> {
  return Object.fromEntries(
    Object.entries(headers).filter(
      (entry): entry is [string, string] =>
        typeof entry[1] === 'string' && /^(?:accept|content-type|mcp-.+)$/.test(entry[0]),
    ),
  );
}

/** Sends the result of the protocol's handler. */
export async function sendResult({ response }: Exchange, result: Response): Promise<void> {
  response.statusCode = result.status;
  for (const [name, value] of result.headers) response.setHeader(name, value);
  response.setHeader('cache-control', 'no-store');
  if (result.body === null) response.end();
  else await pipeline(Readable.fromWeb(result.body as never), response);
}
