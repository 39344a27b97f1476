import type { Transform } from 'node:stream';
import { promisify } from 'node:util';
import { brotliCompress, constants, createBrotliCompress, createGzip, gzip } from 'node:zlib';
import Negotiator from 'negotiator';

/** A content encoding of responses. */
export type Encoding = 'br' | 'gzip';

/** Minimum length of content that is encoded, in bytes. */
export const minBytes = 1024;

// Slightly worse compression than the default, many times faster: every response is encoded again.
// Stryker disable next-line ObjectLiteral: the level decides on speed and size only
const gzipOptions = { level: 4 };
// Stryker disable next-line ObjectLiteral: as above
const brotliOptions = { params: { [constants.BROTLI_PARAM_QUALITY]: 4 } };
// Stryker disable next-line ObjectLiteral: as above
const smallBrotliOptions = { params: { [constants.BROTLI_PARAM_QUALITY]: 9 } };

// In order of preference among codings of equal weight. x-gzip is an alias of gzip (RFC 9110,
// section 8.4.1.3).
const offered = ['br', 'gzip', 'x-gzip', 'identity'];

/**
 * Returns the content coding for an `Accept-Encoding` header (RFC 9110, section 12.5.3), br before
 * gzip if the client weighs them equally. Undefined: send the content as it is.
 */
export function preferredEncoding(header: string | string[] | undefined): Encoding | undefined {
  if (header === undefined) return undefined;
  const request = { headers: { 'accept-encoding': String(header) } };
  const chosen = new Negotiator(request).encoding(offered, { preferred: offered });
  if (chosen === 'br') return 'br';
  return chosen === 'gzip' || chosen === 'x-gzip' ? 'gzip' : undefined;
}

const compressibleTypes: readonly RegExp[] = [
  /^text\//i,
  /^application\/(json|x-ndjson|javascript|xml)\b/i,
  /^[a-z]+\/[^;]+\+(json|xml)\b/i,
];

/** Returns true if content of a type is worth encoding: text is, archives and images are not. */
export function isCompressible(contentType: string): boolean {
  return compressibleTypes.some((type) => type.test(contentType));
}

const gzipped = promisify(gzip) as (bytes: Buffer, options: object) => Promise<Buffer>;
const brotlied = promisify(brotliCompress) as (bytes: Buffer, options: object) => Promise<Buffer>;

/**
 * Encodes bytes, off the main thread. `small` is slow, for content that is encoded once and sent
 * often.
 */
export function encode(
  bytes: Buffer,
  encoding: Encoding,
  aim: 'fast' | 'small' = 'fast',
): Promise<Buffer> {
  const isSmall = aim === 'small';
  // Stryker disable ObjectLiteral,ConditionalExpression: the levels decide on speed and size only
  if (encoding === 'gzip') return gzipped(bytes, isSmall ? { level: 9 } : gzipOptions);
  const { params } = isSmall ? smallBrotliOptions : brotliOptions;
  return brotlied(bytes, {
    params: { ...params, [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length },
  });
  // Stryker restore ObjectLiteral,ConditionalExpression
}

/** An encoding stream. `flush` emits buffered output. */
export interface Encoder extends Transform {
  flush(callback?: () => void): void;
}

/** Creates an encoding stream. */
export function createEncoder(encoding: Encoding): Encoder {
  if (encoding === 'br') return createBrotliCompress(brotliOptions);
  return createGzip(gzipOptions);
}
