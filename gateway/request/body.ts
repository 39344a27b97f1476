import { isUtf8 } from 'node:buffer';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { setImmediate } from 'node:timers/promises';
import { createGunzip } from 'node:zlib';
import { checkJsonSize } from '../../src/contract/body-content.ts';
import { smallBodyBytes } from '../../src/contract/body-limit.ts';
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

/** Media type of JSON, also with a prefix: "application/merge-patch+json". */
const jsonType = /^application\/([a-z0-9.!#$&^_-]+\+)?json$/;
const charsetParameter = /^charset\s*=\s*"?([^"\s]*)"?$/;

/** Throws the fault `unsupported_media` for a body that is not JSON in UTF-8. */
export function requireJson(contentType: string | undefined): void {
  const [type = '', ...parameters] = (contentType ?? '').toLowerCase().split(';');
  const charsets = parameters.map((parameter) => charsetParameter.exec(parameter.trim())?.[1]);
  const charset = charsets.find(Boolean) ?? 'utf-8';
  if (!jsonType.test(type.trim()) || !/^utf-?8$/.test(charset))
    throw unsupported(contentType, 'application/json');
}

/** Throws the fault `unsupported_media` for a body that is not a form. */
export function requireForm(contentType: string | undefined): void {
  if (!/^multipart\/form-data\s*(;|$)/i.test(contentType?.trim() ?? ''))
    throw unsupported(contentType, 'multipart/form-data');
}

function unsupported(mediaType: string | undefined, supportedTypes: string): Fault {
  const what =
    mediaType === undefined
      ? 'Content-Type is missing'
      : `Content-Type ${mediaType} is not supported`;
  return new Fault('unsupported_media', `${what}: send ${supportedTypes}`);
}

/**
 * Reads the text of a JSON body, or null for an empty one of unknown length. Throws
 * `unsupported_media`, `malformed`, `too_large`, and the faults of checkJsonSize().
 */
export async function readJsonText(
  request: IncomingMessage,
  response: ServerResponse,
  limit: number,
): Promise<string | null> {
  const contentType = request.headers['content-type'];
  const isSized = contentLength(request) > 0;
  if (isSized || contentType !== undefined) requireJson(contentType);
  const bytes = await readBody(request, response, limit);
  if (bytes.length === 0) return null;
  requireJson(contentType);
  if (bytes.length > smallBodyBytes) {
    // Large bodies are parsed one by one, with other work between them.
    await setImmediate();
    checkJsonSize(bytes);
  }
  return decodeText(bytes);
}

/**
 * Decodes the text of a body, without a byte order mark. Throws `malformed` for bytes that are not
 * UTF-8.
 */
function decodeText(bytes: Buffer): string {
  if (!isUtf8(bytes)) throw new Fault('malformed', 'The body is not valid UTF-8');
  const start = bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf ? 3 : 0;
  return bytes.toString('utf8', start);
}
