import type { Transform } from 'node:stream';
import { promisify } from 'node:util';
import { brotliCompress, constants, createBrotliCompress, createGzip, gzip } from 'node:zlib';

/** A content encoding that answers are sent in. */
export type Encoding = 'br' | 'gzip';

/** Answers of fewer bytes are sent as they are. */
export const leastBytes = 1024;

// A little worse than the libraries' defaults, many times faster: answers are made anew for every call.
const gzipOptions = { level: 4 };
const brotliOptions = { params: { [constants.BROTLI_PARAM_QUALITY]: 4 } };

/**
 * The encoding that an `Accept-Encoding` header likes best; of two that it likes the same, br. Undefined:
 * neither, or no header.
 */
export function preferredEncoding(header: string | string[] | undefined): Encoding | undefined {
  if (header === undefined || header === '') return undefined;
  const weights = new Map<string, number>();
  for (const part of String(header).toLowerCase().split(',')) {
    const [name, ...parameters] = part.split(';').map((text) => text.trim());
    const weight = parameters.find((parameter) => /^q\s*=/.test(parameter))?.replace(/^q\s*=\s*/, '');
    weights.set(name!, weight === undefined ? 1 : Number(weight) || 0);
  }
  const weightOf = (name: string) => weights.get(name) ?? weights.get('*') ?? 0;
  const [br, gz] = [weightOf('br'), Math.max(weightOf('gzip'), weights.get('x-gzip') ?? 0)];
  if (br === 0 && gz === 0) return undefined;
  return br >= gz ? 'br' : 'gzip';
}

/** Whether content of a type gets smaller by encoding it: text does, archives and pictures are small. */
export function isCompressible(contentType: string): boolean {
  return /^(text\/|application\/(json|x-ndjson|javascript|xml)\b|[a-z]+\/[^;]+\+(json|xml)\b)/i.test(
    contentType,
  );
}

const gzipped = promisify(gzip) as (bytes: Buffer, options: object) => Promise<Buffer>;
const brotlied = promisify(brotliCompress) as (bytes: Buffer, options: object) => Promise<Buffer>;

/** The bytes in an encoding; worked out beside the main thread. */
export function encode(bytes: Buffer, encoding: Encoding): Promise<Buffer> {
  return encoding === 'br'
    ? brotlied(bytes, {
        params: { ...brotliOptions.params, [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length },
      })
    : gzipped(bytes, gzipOptions);
}

/** A stream that encodes. `flush` lets out what it holds back. */
export interface Encoder extends Transform {
  flush(callback?: () => void): void;
}

/** Makes it. */
export function createEncoder(encoding: Encoding): Encoder {
  return encoding === 'br' ? createBrotliCompress(brotliOptions) : createGzip(gzipOptions);
}
