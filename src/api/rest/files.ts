import { createHash } from 'node:crypto';
import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { create as contentDisposition } from 'content-disposition';
import { addHeaders, admit, type Exchange, sendJson } from '../../../gateway/request-context.ts';
import {
  createEncoder,
  isCompressible,
  minBytes,
  preferredEncoding,
} from '../../../gateway/response/content-encoding.ts';
import { errorBody } from '../../../gateway/response/errors.ts';
import { countRequest } from '../../../gateway/serve-endpoint.ts';
import { begin } from '../../base/begin.ts';
import { acceptRequest } from '../../base/connections.ts';
import type { Caller, Headers } from '../../contract/caller.ts';
import { excludesTag, namesTag } from '../../contract/etag.ts';
import { Fault } from '../../contract/fault.ts';
import type { ConvertedFile, FileConversion, SignedFile } from '../../contract/files.ts';

/** Range of a file: bytes `start` to `end`, both inclusive; the whole; or none of its bytes. */
export type Range =
  | { kind: 'part'; start: number; end: number }
  | { kind: 'whole' }
  | { kind: 'unsatisfiable' };

/**
 * Parses a Range header for a file of `size` bytes. One that is malformed, of another unit or of several
 * ranges is ignored (RFC 9110, section 14.2).
 */
export function parseRange(header: string | undefined, size: number): Range {
  const match = /^bytes=\s*(\d*)-(\d*)\s*$/i.exec(header ?? '');
  if (match === null || (match[1] === '' && match[2] === '')) return { kind: 'whole' };
  const [first, last] = [match[1]!, match[2]!];
  if (first === '') {
    const length = Math.min(Number(last), size);
    return length === 0 ? { kind: 'unsatisfiable' } : { kind: 'part', start: size - length, end: size - 1 };
  }
  const start = Number(first);
  if (last !== '' && Number(last) < start) return { kind: 'whole' };
  if (start >= size) return { kind: 'unsatisfiable' };
  return { kind: 'part', start, end: last === '' ? size - 1 : Math.min(Number(last), size - 1) };
}

/** Reader of result files, by paths of the form `<job id>/<file name>`. */
export interface FileReader {
  /** Returns the size in bytes, or null for an unknown file. */
  size(path: string): Promise<number | null>;
  /** Streams a file, or the bytes `start` to `end` of it, both inclusive. */
  read(path: string, range?: { start: number; end: number }): Promise<Readable>;
  /** Returns a link of the storage engine, valid for `seconds`, or null if it has none. */
  presign(path: string, fileName: string, seconds: number): Promise<string | null>;
}

/** Verifies a signed link, given from its path on. Throws `link_invalid`. */
export type VerifyLink = (link: string) => SignedFile;

/**
 * Returns the records of a result file, until the signal aborts. Throws `invalid` for an unknown format or
 * filter, `conflict`, `results_deleted`, `unavailable`.
 */
export type ExportFile = (
  path: string,
  wanted: FileConversion,
  signal: AbortSignal,
) => Promise<ConvertedFile>;

/** Dependencies of serveFile(). */
export interface FileServing {
  caller: Caller;
  files: FileReader;
  verifyLink: VerifyLink;
  exportFile: ExportFile;
  /** Version of the program: another one may format records differently. */
  version: string;
}

// Long enough to follow a redirect, too short to share.
const redirectSeconds = 60;

// A web page whose policy allows its own origin only cannot follow a redirect and sends `Prefer:
// no-redirect`.
const prefersNoRedirect = /(?:^|,)\s*no-redirect\s*(?:[,;]|$)/i;

/**
 * Serves a signed link. An error before the first byte is a response, without the headers of the file.
 */
export async function serveFile(serving: FileServing, exchange: Exchange): Promise<void> {
  const { response } = exchange;
  const known = new Set(response.getHeaderNames());
  try {
    await serveLink(serving, exchange);
  } catch (error) {
    if (!response.headersSent)
      for (const name of response.getHeaderNames())
        if (ofFile.has(name) && !known.has(name)) response.removeHeader(name);
    throw error;
  }
}

/** Headers of a response with a file. */
const ofFile = new Set([
  ...['accept-ranges', 'cache-control', 'content-disposition', 'content-encoding', 'content-length'],
  ...['content-range', 'content-type', 'etag'],
]);

/**
 * Serves a signed link: the file or a range of it, or a redirect to the storage engine unless the client
 * prefers none. A link with `bearer` also requires the key of its owner: 401 without one, 404 for another
 * user. A signed link was valid for an existing file, so a missing one was deleted: 410.
 */
async function serveLink(serving: FileServing, exchange: Exchange): Promise<void> {
  const { caller, files, verifyLink } = serving;
  const { request, response } = exchange;
  const { path, fileName, bearer, userId } = verifyLink(request.url ?? '');
  if (bearer) {
    const session = await caller.authenticate(request.headers as Headers);
    admit(exchange, session);
    addHeaders(exchange, await countRequest(session));
    if (session.userId !== userId) throw noSuchFile();
  }
  acceptRequest(request);
  const size = await files.size(path);
  if (size === null) throw new Fault('results_deleted', 'This file was deleted.');
  const wanted = exportOf(request.url!);
  if (wanted !== null) {
    await serveExport(serving, exchange, { path, size, wanted });
    return;
  }
  const presigned = prefersNoRedirect.test(String(request.headers.prefer ?? ''))
    ? null
    : await files.presign(path, fileName, redirectSeconds);
  if (presigned !== null) {
    response.writeHead(302, { location: presigned, 'cache-control': 'no-store', 'content-length': 0 }).end();
    return;
  }
  // Result files never change once written: path and size identify their contents.
  const tag = tagOf(path, size);
  const contentType = contentTypeOf(path);
  // Ranges, and so resumed downloads, count the bytes of the unencoded file.
  const encoding =
    request.headers.range === undefined && size >= minBytes && isCompressible(contentType)
      ? preferredEncoding(request.headers['accept-encoding'])
      : undefined;
  if (isCompressible(contentType)) response.appendHeader('vary', 'accept-encoding');
  response.setHeader('etag', encoding === undefined ? tag : `W/${tag}`);
  response.setHeader('accept-ranges', 'bytes');
  response.setHeader('cache-control', 'private, max-age=3600');
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
  const part = range.kind === 'part' ? range : undefined;
  response.setHeader('content-type', contentType);
  response.setHeader('content-disposition', contentDisposition(fileName.toWellFormed()));
  await sendFile(exchange, part, size, encoding, () =>
    files.read(path, part && { start: part.start, end: part.end }),
  );
}

/** Responds with 412 or 304 if the conditions of a request say so. Returns true if it has. */
function isAnswered(exchange: Exchange, tag: string): boolean {
  const { request, response } = exchange;
  if (excludesTag(request.headers['if-match'], tag)) {
    const detail = 'The file is not the one that If-Match names';
    sendJson(exchange, 412, errorBody(detail, 'precondition_failed', exchange.requestId));
    return true;
  }
  if (!namesTag(request.headers['if-none-match'], tag)) return false;
  response.writeHead(304).end();
  return true;
}

const tagOf = (...identity: readonly (string | number)[]) =>
  `"${createHash('sha256').update(identity.join(' ')).digest('base64url').slice(0, 27)}"`;

const exportParams = ['format', 'only', 'columns'] as const satisfies (keyof FileConversion)[];

/** Returns the export that a link's query requests, or null for the file as it is. */
function exportOf(url: string): FileConversion | null {
  const query = new URLSearchParams(url.slice(url.indexOf('?') + 1));
  const wanted = exportParams.map((name) => [name, query.get(name)] as const);
  if (wanted.every(([, value]) => value === null)) return null;
  return Object.fromEntries(wanted.map(([name, value]) => [name, value ?? ''])) as unknown as FileConversion;
}

/** The file whose records are exported. */
interface ExportSource {
  path: string;
  size: number;
  wanted: FileConversion;
}

/**
 * Serves the records of a file in another format: always whole, since its size is not known. The tag is weak:
 * equal records may be compressed differently by another version of a library.
 */
async function serveExport(
  { exportFile, version }: FileServing,
  exchange: Exchange,
  file: ExportSource,
): Promise<void> {
  const ended = new AbortController();
  try {
    await sendExport(exchange, await exportFile(file.path, file.wanted, ended.signal), file, version);
  } finally {
    ended.abort(new Error('the response ended'));
  }
}

async function sendExport(
  exchange: Exchange,
  { contentType, fileName, bytes }: ConvertedFile,
  { path, size, wanted }: ExportSource,
  version: string,
): Promise<void> {
  const { request, response } = exchange;
  const tag = tagOf(path, size, wanted.format, wanted.only, wanted.columns, version);
  const encoding = isCompressible(contentType)
    ? preferredEncoding(request.headers['accept-encoding'])
    : undefined;
  if (isCompressible(contentType)) response.appendHeader('vary', 'accept-encoding');
  response.setHeader('etag', `W/${tag}`);
  response.setHeader('accept-ranges', 'none');
  response.setHeader('cache-control', 'private, max-age=3600');
  if (isAnswered(exchange, `W/${tag}`)) return;
  response.setHeader('content-type', contentType);
  response.setHeader('content-disposition', contentDisposition(fileName.toWellFormed()));
  if (encoding !== undefined) response.setHeader('content-encoding', encoding);
  if (request.method === 'HEAD') response.end();
  else await sendBytes(response, bytes, encoding);
}

/** Sends bytes, encoded if `encoding` is given. An error after the first ones ends the connection. */
async function sendBytes(
  response: Exchange['response'],
  bytes: AsyncIterable<Uint8Array>,
  encoding: ReturnType<typeof preferredEncoding>,
): Promise<void> {
  const begun = await begin(bytes);
  try {
    if (encoding === undefined) await pipeline(begun, response);
    else await pipeline(begun, createEncoder(encoding), response);
  } finally {
    await begun.return();
  }
}

/** Sends a file or a part of it, encoded if `encoding` is given. */
async function sendFile(
  { request, response }: Exchange,
  part: { start: number; end: number } | undefined,
  size: number,
  encoding: ReturnType<typeof preferredEncoding>,
  read: () => ReturnType<FileReader['read']>,
): Promise<void> {
  response.statusCode = part === undefined ? 200 : 206;
  if (part !== undefined) response.setHeader('content-range', `bytes ${part.start}-${part.end}/${size}`);
  if (encoding === undefined)
    response.setHeader('content-length', part === undefined ? size : part.end - part.start + 1);
  else response.setHeader('content-encoding', encoding);
  if (request.method === 'HEAD' || size === 0) {
    response.end();
    return;
  }
  await sendBytes(response, await read(), encoding);
}

function noSuchFile(): Fault {
  return new Fault('not_found', 'No such file');
}

/** Returns the media type of a result file; a gzip file has no content encoding. */
export function contentTypeOf(name: string): string {
  if (name.endsWith('.gz')) return 'application/gzip';
  if (name.endsWith('.json')) return 'application/json';
  if (name.endsWith('.jsonl')) return 'application/x-ndjson';
  if (name.endsWith('.csv')) return 'text/csv; charset=utf-8';
  return 'application/octet-stream';
}
