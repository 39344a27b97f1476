import { createHash } from 'node:crypto';
import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { namesTag } from '../../src/contract/etag.ts';
import { Fault } from '../../src/contract/fault.ts';
import { createEncoder, isCompressible, leastBytes, preferredEncoding } from '../answer/content-encoding.ts';
import type { Caller, Headers } from '../caller.ts';
import { admit, answerJson, type Exchange } from '../exchange.ts';
import { parseRange } from './range.ts';

/** Where result files are read from: paths are `<job id>/<file name>`. */
export interface FileReader {
  /** Size in bytes; null when there is no such file. */
  size(path: string): Promise<number | null>;
  /** Streams a file, or the bytes `start` to `end` of it, both inclusive. */
  read(path: string, range?: { start: number; end: number }): Promise<Readable>;
  /** A link of the engine's own, good for `seconds`; null when it makes none. */
  presign(path: string, fileName: string, seconds: number): Promise<string | null>;
}

/** What a signed link says; `userId` owns the file where `bearer` is set. */
export interface LinkedFile {
  path: string;
  fileName: string;
  bearer: boolean;
  userId: string;
}

/** Reads a signed link, given from its path on. Fault: `link_invalid`. */
export type VerifyLink = (link: string) => LinkedFile;

/** Methods that a file link answers. */
export interface FileServing {
  caller: Caller;
  files: FileReader;
  verifyLink: VerifyLink;
}

// Long enough to follow a redirect, too short to pass on.
const redirectSeconds = 60;

/** A web page that may ask its own origin alone cannot follow a redirect: it says `Prefer: no-redirect`. */
const staysHere = /(?:^|,)\s*no-redirect\s*(?:[,;]|$)/i;

/**
 * Serves a signed link: the whole file or a range of it, or a redirect to the storage engine unless the
 * client would rather have none. A link flagged `bearer` asks for its owner's key, too: 401 without one,
 * 404 for another user's.
 */
export async function serveFile(
  { caller, files, verifyLink }: FileServing,
  exchange: Exchange,
): Promise<void> {
  const { request, response } = exchange;
  const { path, fileName, bearer, userId } = verifyLink(request.url ?? '');
  if (bearer) {
    const session = await caller.authenticate(request.headers as Headers);
    admit(exchange, session);
    if (session.userId !== userId) throw notThere();
  }
  const elsewhere = staysHere.test(String(request.headers.prefer ?? ''))
    ? null
    : await files.presign(path, fileName, redirectSeconds);
  if (elsewhere !== null) {
    response.writeHead(302, { location: elsewhere, 'cache-control': 'no-store', 'content-length': 0 }).end();
    return;
  }
  const size = await files.size(path);
  if (size === null) throw notThere();

  // Result files never change once written, so that path and size name their content.
  const tag = `"${createHash('sha256').update(`${path} ${size}`).digest('base64url').slice(0, 27)}"`;
  const contentType = contentTypeOf(path);
  // A range is one of the file's own bytes, and what resumes a download counts those.
  const encoding =
    request.headers.range === undefined && size >= leastBytes && isCompressible(contentType)
      ? preferredEncoding(request.headers['accept-encoding'])
      : undefined;
  if (isCompressible(contentType)) response.setHeader('vary', 'accept-encoding');
  response.setHeader('etag', encoding === undefined ? tag : `W/${tag}`);
  response.setHeader('accept-ranges', 'bytes');
  response.setHeader('cache-control', 'private, max-age=3600');
  if (namesTag(request.headers['if-none-match'], tag)) {
    response.writeHead(304).end();
    return;
  }
  const condition = request.headers['if-range'];
  const range =
    condition === undefined || condition === tag
      ? parseRange(request.headers.range, size)
      : ({ kind: 'whole' } as const);
  if (range.kind === 'unsatisfiable') {
    const detail = `The file has ${size} bytes, the range asks for others`;
    answerJson(exchange, 416, JSON.stringify({ detail }), { 'content-range': `bytes */${size}` });
    return;
  }
  const part = range.kind === 'part' ? range : undefined;
  response.statusCode = part === undefined ? 200 : 206;
  if (part !== undefined) response.setHeader('content-range', `bytes ${part.start}-${part.end}/${size}`);
  if (encoding === undefined)
    response.setHeader('content-length', part === undefined ? size : part.end - part.start + 1);
  else response.setHeader('content-encoding', encoding);
  response.setHeader('content-type', contentType);
  response.setHeader('content-disposition', attachment(fileName));
  if (request.method === 'HEAD' || size === 0) {
    response.end();
    return;
  }
  const bytes = await files.read(path, part && { start: part.start, end: part.end });
  if (encoding === undefined) await pipeline(bytes, response);
  else await pipeline(bytes, createEncoder(encoding), response);
}

function notThere(): Fault {
  return new Fault('not_found', 'No such file');
}

/** Type of a result file by its name; gzip is the file's own form, not a transfer encoding. */
export function contentTypeOf(name: string): string {
  if (name.endsWith('.gz')) return 'application/gzip';
  if (name.endsWith('.json')) return 'application/json';
  if (name.endsWith('.jsonl')) return 'application/x-ndjson';
  if (name.endsWith('.csv')) return 'text/csv; charset=utf-8';
  return 'application/octet-stream';
}

/** A Content-Disposition that saves under `name`, whatever characters it has (RFC 6266). */
export function attachment(name: string): string {
  const plain = name.replace(/[^\x20-\x7e]|["\\%]/g, '_');
  const encoded = encodeURIComponent(name.toWellFormed()).replace(
    /['()*]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  );
  return plain === name
    ? `attachment; filename="${plain}"`
    : `attachment; filename="${plain}"; filename*=UTF-8''${encoded}`;
}
