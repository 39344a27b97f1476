import {
  addHeaders,
  type Exchange,
  hasContent,
  sendContent,
  setHeaders,
  textTag,
} from '../request-context.ts';
import { type Encoding, encode, minBytes, preferredEncoding } from './content-encoding.ts';

/** Content that is equal for every caller, kept with its encodings. */
export interface PublicContent {
  readonly type: string;
  readonly bytes: Buffer;
  readonly tag: string;
  /** Returns the encoded bytes, which are encoded once. */
  encoded(encoding: Encoding): Promise<Buffer>;
}

/** Creates public content of a media type, with the encodings of it that exist. */
export function createPublicContent(
  type: string,
  content: string | Buffer,
  encoded: Partial<Record<Encoding, Buffer>> = {},
): PublicContent {
  const bytes = Buffer.from(content as string);
  const encodings = new Map(
    Object.entries(encoded).map(([name, each]) => [name as Encoding, Promise.resolve(each)]),
  );
  return {
    type,
    bytes,
    tag: textTag(bytes),
    encoded(encoding) {
      let encoded = encodings.get(encoding);
      if (encoded === undefined) {
        encoded = encode(bytes, encoding, 'small');
        encodings.set(encoding, encoded);
        encoded.catch(() => encodings.delete(encoding));
      }
      return encoded;
    },
  };
}

/**
 * Returns a function that builds content once per key, and again if that failed. Only the content
 * of the latest key is kept.
 */
export function keepContent(
  keyOf: () => string,
  build: () => Promise<PublicContent>,
): () => Promise<PublicContent> {
  let latest: { key: string; content: Promise<PublicContent> } | undefined;
  return () => {
    const key = keyOf();
    if (latest?.key === key) return latest.content;
    const next = { key, content: build() };
    latest = next;
    next.content.catch(() => {
      if (latest === next) latest = undefined;
    });
    return next.content;
  };
}

/**
 * Responds with public content: in br or gzip if the client accepts one, and with 304 if it has the
 * content. It must be revalidated for each use unless `headers` have another `cache-control`.
 */
export async function sendPublicContent(
  exchange: Exchange,
  content: PublicContent,
  headers: Readonly<Record<string, string>> = {},
): Promise<void> {
  const { request } = exchange;
  const response = setHeaders(exchange);
  const { type, bytes, tag } = content;
  addHeaders(exchange, { etag: tag, 'cache-control': 'no-cache', ...headers });
  const isEncodable = bytes.length >= minBytes;
  if (hasContent(exchange, tag)) {
    if (isEncodable) response.appendHeader('vary', 'accept-encoding');
    response.writeHead(304).end();
    return;
  }
  response.statusCode = 200;
  response.setHeader('content-type', type);
  const encoding = isEncodable ? preferredEncoding(request.headers['accept-encoding']) : undefined;
  if (encoding === undefined) return sendContent(exchange, bytes, { isCompressible: false });
  const encoded = await content.encoded(encoding);
  if (response.destroyed) return;
  response.setHeader('content-encoding', encoding);
  if (encoded.length < minBytes) response.appendHeader('vary', 'accept-encoding');
  sendContent(exchange, encoded, { isCompressible: false });
}
