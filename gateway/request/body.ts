import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGunzip } from 'node:zlib';
import { Fault } from '../../src/contract/fault.ts';

/** Returns true if a request declares a body, which may be an empty one of unknown length. */
export function hasBody(request: IncomingMessage): boolean {
  return request.headers['transfer-encoding'] !== undefined || contentLength(request) > 0;
}

/** Returns the declared length of a body in bytes; 0 without one. */
export function contentLength(request: IncomingMessage): number {
  return Number(request.headers['content-length'] ?? 0);
}

/** Returns the content encoding of a body. `x-gzip` is another name of gzip (RFC 9110, 8.4.1.3). */
function contentEncoding(request: IncomingMessage): string {
  const encoding = request.headers['content-encoding']?.trim().toLowerCase() ?? 'identity';
  return encoding === 'x-gzip' ? 'gzip' : encoding;
}

/**
 * Streams a request's body, unzipped when it came as gzip, up to `limit` bytes both before and
 * after. Throws `too_large` (before anything is read if the length is declared),
 * `unsupported_media` for another content encoding, `malformed` for broken gzip or a body cut
 * short.
 */
export async function* streamBody(
  request: IncomingMessage,
  response: ServerResponse,
  limit: number,
): AsyncGenerator<Buffer> {
  const encoding = contentEncoding(request);
  if (encoding !== 'identity' && encoding !== 'gzip') {
    throw new Fault(
      'unsupported_media',
      `Content-Encoding ${encoding} is not supported: send the body as it is or as gzip`,
    );
  }
  if (contentLength(request) > limit) throw tooLarge(limit);
  // A client that sent `Expect: 100-continue` waits for this before it sends the body.
  if (request.headers.expect !== undefined) {
    // HTTP/1.0 has no interim responses (RFC 9110, 10.1.1).
    if (request.httpVersion !== '1.0') response.writeContinue();
    request.headers.expect = undefined;
  }
  const arriving = counted(request, limit, 'The body ended before its end');
  if (encoding === 'identity') {
    yield* arriving;
    return;
  }
  const gunzip = createGunzip();
  const feeding = pipeline(arriving, gunzip);
  // Its fault is thrown below, after the data that was read.
  feeding.catch(() => {});
  yield* counted(gunzip, limit, 'The body is not valid gzip');
  await feeding;
}

/** Reads a whole body: see streamBody. */
export async function readBody(
  request: IncomingMessage,
  response: ServerResponse,
  limit: number,
): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of streamBody(request, response, limit)) chunks.push(chunk);
  return chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks);
}

async function* counted(chunks: Readable, limit: number, broken: string): AsyncGenerator<Buffer> {
  let bytes = 0;
  try {
    // The stream is not destroyed on an early stop: the socket is still needed for the response.
    for await (const chunk of chunks.iterator({ destroyOnReturn: false })) {
      bytes += (chunk as Buffer).length;
      if (bytes > limit) throw tooLarge(limit);
      yield chunk as Buffer;
    }
  } catch (error) {
    throw error instanceof Fault ? error : new Fault('malformed', broken, { cause: error });
  }
}

function tooLarge(limit: number): Fault {
  return new Fault('too_large', `The body is larger than ${limit} bytes`);
}
