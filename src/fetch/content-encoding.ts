import { promisify } from 'node:util';
import zlib from 'node:zlib';
import { Fault } from '../contract/fault.ts';

/** Value of the accept-encoding header: the encodings that decodeBody() supports. */
export const acceptedEncodings = 'gzip, deflate, br, zstd';

interface Decoder {
  decodeSync(body: Buffer, options: { maxOutputLength: number }): Buffer;
  decode(body: Buffer, options: { maxOutputLength: number }): Promise<Buffer>;
}

function inflate(body: Buffer, options: { maxOutputLength: number }): Buffer {
  const bare = ((body[0] ?? 0) & 0x0f) !== 8;
  if (bare) return zlib.inflateRawSync(body, options);
  return zlib.inflateSync(body, options);
}

const gzip: Decoder = { decodeSync: zlib.gunzipSync, decode: promisify(zlib.gunzip) };
const decoders: Readonly<Record<string, Decoder>> = {
  gzip,
  'x-gzip': gzip,
  deflate: { decodeSync: inflate, decode: async (body, options) => inflate(body, options) },
  br: { decodeSync: zlib.brotliDecompressSync, decode: promisify(zlib.brotliDecompress) },
  zstd: { decodeSync: zlib.zstdDecompressSync, decode: promisify(zlib.zstdDecompress) },
};

/** Maximum nested encodings: servers use one, and a proxy may add another. */
const maxLayers = 3;

/**
 * Maximum size of a body that is decoded synchronously, in bytes: passing a small one to a thread
 * costs more.
 */
const smallBytes = 64 * 1024;

/**
 * Decodes a body by its content-encoding. Rejects with `page_too_large` if the result would exceed
 * `limit` bytes, and with `network` if the body is truncated, corrupt, or in an encoding that was
 * not requested.
 */
export async function decodeBody(
  body: Buffer,
  contentEncoding: string | undefined,
  limit: number,
): Promise<Buffer> {
  const names = (contentEncoding ?? '').toLowerCase().split(',');
  const layers = names
    .map((name) => name.trim())
    .filter((name) => name !== '' && name !== 'identity');
  if (layers.length > maxLayers)
    throw new Fault('network', 'the response has too many content encodings');
  let plain = body;
  for (const name of layers.reverse()) {
    const decoder = Object.hasOwn(decoders, name) ? decoders[name]! : undefined;
    if (!decoder)
      throw new Fault(
        'network',
        `the response has the unsupported content encoding ${name.slice(0, 40)}`,
      );
    if (plain.length === 0) return plain;
    plain = await decodeLayer(plain, name, decoder, limit);
  }
  return plain;
}

/** Decodes one encoding of a body. Rejects as decodeBody() does. */
async function decodeLayer(
  body: Buffer,
  name: string,
  decoder: Decoder,
  limit: number,
): Promise<Buffer> {
  const options = { maxOutputLength: limit };
  try {
    if (body.length <= smallBytes) return decoder.decodeSync(body, options);
    return await decoder.decode(body, options);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ERR_BUFFER_TOO_LARGE')
      throw new Fault('page_too_large', `the page is larger than ${limit} bytes`);
    throw new Fault('network', `the ${name}-encoded response is corrupt or truncated`, {
      cause: error,
    });
  }
}
