import { once } from 'node:events';
import type { Writable } from 'node:stream';
import { setImmediate } from 'node:timers/promises';
import { Fault } from '../../src/contract/fault.ts';
import type { ResponseHeaders } from '../../src/contract/response-headers.ts';
import { addHeaders, type Exchange, setHeaders } from '../request-context.ts';
import {
  createEncoder,
  type Encoder,
  isCompressible,
  preferredEncoding,
} from './content-encoding.ts';

/** Part of a response body; the first one has the media type. */
export interface BodyPiece {
  readonly contentType: string;
  readonly data: Uint8Array;
}

/**
 * Responds with a stream of bytes; the first piece has the content type. Text is encoded in br or
 * gzip if the client accepts one, and flushed whenever the stream pauses. Throws faults: the caller
 * responds with one from before the first message, and closes the connection for a later one.
 */
export async function sendStream(
  exchange: Exchange,
  status: number,
  messages: AsyncIterable<BodyPiece>,
  responseHeaders: ResponseHeaders,
): Promise<void> {
  const { request, response } = exchange;
  const source = messages[Symbol.asyncIterator]();
  let encoder: Encoder | undefined;
  try {
    const first = await source.next();
    setHeaders(exchange);
    addHeaders(exchange, responseHeaders);
    if (first.done) throw new Fault('internal', 'a stream ended without a message');
    response.statusCode = status;
    const encoding = setContentHeaders(exchange, first.value.contentType);
    if (request.method === 'HEAD') {
      response.end();
      return;
    }
    if (encoding !== undefined) encoder = createEncoder(encoding);
    encoder?.pipe(response);
    await writePieces(exchange, first, source, encoder);
  } finally {
    if (!response.writableEnded && encoder?.writableEnded !== true) encoder?.destroy();
    await source.return?.();
  }
}

/** Writes a body from its first piece on, and ends it. Stops if the client disconnects. */
async function writePieces(
  { response, signal }: Exchange,
  first: IteratorResult<BodyPiece>,
  source: AsyncIterator<BodyPiece>,
  encoder: Encoder | undefined,
): Promise<void> {
  const sink: Writable = encoder ?? response;
  let step = first;
  while (!step.done) {
    if (response.destroyed) return;
    const { data } = step.value;
    if (data.length > 0 && !sink.write(data)) await once(sink, 'drain', { signal });
    const next = source.next();
    if (encoder !== undefined && (await paused(next))) encoder.flush();
    step = await next;
  }
  sink.end();
}

/** Sets the headers of the contents. Returns the encoding, undefined for none. */
function setContentHeaders({ request, response }: Exchange, contentType: string) {
  const type = contentType || 'application/octet-stream';
  response.setHeader('content-type', type);
  response.setHeader('cache-control', 'no-store');
  if (!isCompressible(type)) return undefined;
  response.appendHeader('vary', 'accept-encoding');
  const encoding = preferredEncoding(request.headers['accept-encoding']);
  if (encoding !== undefined) response.setHeader('content-encoding', encoding);
  return encoding;
}

/** Returns true if the source yields nothing within this turn of the event loop. */
async function paused(next: Promise<unknown>): Promise<boolean> {
  // The caller handles the rejection.
  const isSettled = next.then(
    () => true,
    () => true,
  );
  return !(await Promise.race([isSettled, setImmediate(false)]));
}
