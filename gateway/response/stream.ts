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
  const { request, response, signal } = exchange;
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
    const sink: Writable = encoder ?? response;
    for (let step: IteratorResult<BodyPiece> = first; !step.done; ) {
      const { data } = step.value;
      if (response.destroyed) return;
      if (data.length > 0 && !sink.write(data)) await once(sink, 'drain', { signal });
      const next = source.next();
      if (encoder !== undefined && (await paused(next))) encoder.flush();
      step = await next;
    }
    sink.end();
  } finally {
    if (!response.writableEnded && encoder?.writableEnded !== true) encoder?.destroy();
    await source.return?.();
  }
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

/** True if nothing has come within this turn of the event loop. */
async function paused(next: Promise<unknown>): Promise<boolean> {
  const nothing = Symbol('nothing');
  // The caller handles the rejection.
  const come = next.then(
    () => undefined,
    () => undefined,
  );
  return (await Promise.race([come, setImmediate(nothing)])) === nothing;
}
