import { promisify } from 'node:util';
import zlib from 'node:zlib';
import { Fault } from '../contract/fault.ts';

/** What a request's accept-encoding says: the encodings that `decoded` undoes. */
export const acceptedEncodings = 'gzip, deflate, br, zstd';

interface Decoder {
  now(body: Buffer, options: { maxOutputLength: number }): Buffer;
  later(body: Buffer, options: { maxOutputLength: number }): Promise<Buffer>;
}

function inflate(body: Buffer, options: { maxOutputLength: number }): Buffer {
  const bare = ((body[0] ?? 0) & 0x0f) !== 8;
  return bare ? zlib.inflateRawSync(body, options) : zlib.inflateSync(body, options);
}

const gzip: Decoder = { now: zlib.gunzipSync, later: promisify(zlib.gunzip) };
const decoders: Readonly<Record<string, Decoder>> = {
  gzip,
  'x-gzip': gzip,
  deflate: { now: inflate, later: async (body, options) => inflate(body, options) },
  br: { now: zlib.brotliDecompressSync, later: promisify(zlib.brotliDecompress) },
  zstd: { now: zlib.zstdDecompressSync, later: promisify(zlib.zstdDecompress) },
};

/** Encodings one upon the other that are undone: servers use one, a proxy may add another. */
const mostLayers = 3;

/** Bodies up to this size are decoded at once: handing them to a thread costs more than it saves. */
const smallBytes = 64 * 1024;

/**
 * Undoes a body's content-encoding. Faults: `page_too_large` when it would be longer than `limit`
 * bytes, `network` when it is cut off, broken or of an encoding that was not asked for.
 */
export async function decoded(
  body: Buffer,
  contentEncoding: string | undefined,
  limit: number,
): Promise<Buffer> {
  const names = (contentEncoding ?? '').toLowerCase().split(',');
  const layers = names.map((name) => name.trim()).filter((name) => name !== '' && name !== 'identity');
  if (layers.length > mostLayers) throw new Fault('network', 'the answer is encoded too many times');
  let plain = body;
  for (const name of layers.reverse()) {
    const decoder = Object.hasOwn(decoders, name) ? decoders[name]! : undefined;
    if (!decoder) throw new Fault('network', `the answer's encoding ${name.slice(0, 40)} was not asked for`);
    if (plain.length === 0) return plain;
    try {
      const options = { maxOutputLength: limit };
      plain = plain.length <= smallBytes ? decoder.now(plain, options) : await decoder.later(plain, options);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ERR_BUFFER_TOO_LARGE') {
        throw new Fault('page_too_large', `the page is larger than ${limit} bytes`);
      }
      throw new Fault('network', `the answer's ${name} encoding is broken or cut off`, { cause: error });
    }
  }
  return plain;
}
