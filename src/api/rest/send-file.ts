import { create as contentDisposition } from 'content-disposition';
import { type Exchange, hasContent, sendJson } from '../../../gateway/request-context.ts';
import {
  createEncoder,
  isCompressible,
  minBytes,
  preferredEncoding,
} from '../../../gateway/response/content-encoding.ts';
import { errorBody } from '../../../gateway/response/errors.ts';
import { writeBody } from '../../../gateway/response/write-body.ts';
import { begin } from '../../base/begin.ts';
import { excludesTag } from '../../contract/etag.ts';
import type { ConvertedFile } from '../../contract/files.ts';

/** Range of a file: bytes `start` to `end`, both inclusive; the whole; or none of its bytes. */
export type Range =
  | { kind: 'part'; start: number; end: number }
  | { kind: 'whole' }
  | { kind: 'unsatisfiable' };

/**
 * Parses a Range header for a file of `size` bytes. One that is malformed, of another unit or of
 * several ranges is ignored (RFC 9110, section 14.2).
 */
export function parseRange(header: string | undefined, size: number): Range {
  const match = /^bytes=\s*(\d*)-(\d*)\s*$/i.exec(header ?? '');
  if (match === null || (match[1] === '' && match[2] === '')) return { kind: 'whole' };
  const [first, last] = [match[1]!, match[2]!];
  if (first === '') {
    const length = Math.min(Number(last), size);
    return length === 0
      ? { kind: 'unsatisfiable' }
      : { kind: 'part', start: size - length, end: size - 1 };
  }
  const start = Number(first);
  if (last !== '' && Number(last) < start) return { kind: 'whole' };
  if (start >= size) return { kind: 'unsatisfiable' };
  return { kind: 'part', start, end: last === '' ? size - 1 : Math.min(Number(last), size - 1) };
}

/** A file of known size. */
interface StoredContents {
  size: number;
  contentType: string;
  fileName: string;
  /** Strong entity tag of the unencoded file. */
  tag: string;
  /** Repr-Digest of the unencoded file, if it is known. */
  digest?: string | undefined;
  read(part?: { start: number; end: number }): Promise<AsyncIterable<Uint8Array>>;
}

/** Sends a file or a range of it, subject to the conditional headers of the request. */
export async function sendStored(exchange: Exchange, contents: StoredContents): Promise<void> {
  const { request, response } = exchange;
  const { size, contentType, fileName, tag, digest } = contents;
  // Ranges, including those of resumed downloads, count the bytes of the unencoded file.
  const encoding =
    request.headers.range === undefined && size >= minBytes && isCompressible(contentType)
      ? preferredEncoding(request.headers['accept-encoding'])
      : undefined;
  const etag = encoding === undefined ? tag : `W/${tag}`;
  setCacheHeaders(exchange, { contentType, etag, acceptRanges: 'bytes' });
  if (isAnswered(exchange, tag)) return;
  const condition = request.headers['if-range'];
  const range =
    condition === undefined || condition === tag
      ? parseRange(request.headers.range, size)
      : ({ kind: 'whole' } as const);
  if (range.kind === 'unsatisfiable') {
    const detail = `The file has ${size} bytes, the range is outside of them`;
    const body = errorBody(detail, 'range_not_satisfiable', exchange.requestId);
    sendJson(exchange, 416, body, { 'content-range': `bytes */${size}` });
    return;
  }
  const part = range.kind === 'part' ? { start: range.start, end: range.end } : undefined;
  response.setHeader('content-type', contentType);
  response.setHeader('content-disposition', contentDisposition(fileName.toWellFormed()));
  if (digest !== undefined && encoding === undefined) response.setHeader('repr-digest', digest);
  await sendFile(exchange, part, size, encoding, () => contents.read(part));
}

/** Sets the headers that a response has also without a body. */
function setCacheHeaders(
  { response }: Exchange,
  file: { contentType: string; etag: string; acceptRanges: 'bytes' | 'none' },
): void {
  if (isCompressible(file.contentType)) response.appendHeader('vary', 'accept-encoding');
  response.setHeader('etag', file.etag);
  response.setHeader('accept-ranges', file.acceptRanges);
  response.setHeader('cache-control', 'private, max-age=3600');
}

/**
 * Evaluates the conditional headers of a request. Responds with 412 or 304 if they require it, and
 * returns true if so.
 */
function isAnswered(exchange: Exchange, tag: string): boolean {
  const { request, response } = exchange;
  if (excludesTag(request.headers['if-match'], tag)) {
    const detail = 'The file is not the one that If-Match names';
    sendJson(exchange, 412, errorBody(detail, 'precondition_failed', exchange.requestId));
    return true;
  }
  if (!hasContent(exchange, tag)) return false;
  response.writeHead(304).end();
  return true;
}

/** Sends a conversion while it is produced, subject to the conditional headers of the request. */
export async function sendConversion(
  exchange: Exchange,
  tag: string,
  { contentType, fileName, bytes }: ConvertedFile,
): Promise<void> {
  const { request, response } = exchange;
  const encoding = isCompressible(contentType)
    ? preferredEncoding(request.headers['accept-encoding'])
    : undefined;
  setCacheHeaders(exchange, { contentType, etag: `W/${tag}`, acceptRanges: 'none' });
  if (isAnswered(exchange, `W/${tag}`)) return;
  response.setHeader('content-type', contentType);
  response.setHeader('content-disposition', contentDisposition(fileName.toWellFormed()));
  if (encoding !== undefined) response.setHeader('content-encoding', encoding);
  if (request.method === 'HEAD') response.end();
  else await sendBytes(exchange, bytes, encoding);
}

/**
 * Sends bytes, encoded if `encoding` is given. An error of the first ones can still be a response.
 */
async function sendBytes(
  exchange: Exchange,
  bytes: AsyncIterable<Uint8Array>,
  encoding: ReturnType<typeof preferredEncoding>,
): Promise<void> {
  const begun = await begin(bytes);
  try {
    await writeBody(exchange, begun, encoding && createEncoder(encoding));
  } finally {
    await begun.return();
  }
}

/** Sends a file or a part of it, encoded if `encoding` is given. */
async function sendFile(
  exchange: Exchange,
  part: { start: number; end: number } | undefined,
  size: number,
  encoding: ReturnType<typeof preferredEncoding>,
  read: () => Promise<AsyncIterable<Uint8Array>>,
): Promise<void> {
  const { request, response } = exchange;
  response.statusCode = part === undefined ? 200 : 206;
  if (part !== undefined)
    response.setHeader('content-range', `bytes ${part.start}-${part.end}/${size}`);
  if (encoding === undefined)
    response.setHeader('content-length', part === undefined ? size : part.end - part.start + 1);
  else response.setHeader('content-encoding', encoding);
  if (request.method === 'HEAD' || size === 0) {
    response.end();
    return;
  }
  await sendBytes(exchange, await read(), encoding);
}
