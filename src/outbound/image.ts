import { Agent } from 'undici';
import { Fault } from '../contract/fault.ts';
import { guardedLookup, type ResolveName, storeOrigin } from '../fetch/address.ts';
import { createConnector } from '../fetch/http-request.ts';
import { networkFault } from '../fetch/network-fault.ts';

export interface Picture {
  /** Media type, by the first bytes. The site's header is not trusted. */
  contentType: string;
  bytes: Uint8Array;
}

/** Fetches pictures from addresses that sites wrote into their pages. */
export interface ImageFetcher {
  /**
   * Returns the picture at an address. Throws `address_refused` for one outside of the public
   * internet, `page_too_large`, `page_unreadable` for another status or content than a picture,
   * `page_throttled` while too many are fetched, `page_timeout`, and `network`.
   */
  fetch(url: string, signal: AbortSignal): Promise<Picture>;
  /** Closes all connections. */
  close(): Promise<void>;
}

/** Options for createImageFetcher(). */
export interface ImageFetcherOptions {
  userAgent: string;
  /** Maximum bytes of a picture. Default: 2 MiB. */
  maxBytes?: number;
  /** Timeout of a picture, in milliseconds. Default: 10,000. */
  totalMs?: number;
  /** Allows addresses outside of the public internet. Default: false. */
  allowPrivate?: boolean;
  /** Resolves host names; `dns.lookup` by default. */
  resolve?: ResolveName;
}

/** Maximum redirects followed. Each address is checked. */
const maxRedirects = 3;
/** Maximum pictures that are fetched at the same time. */
const maxConcurrent = 16;

/**
 * Creates a fetcher. Sends no cookies, credentials, or referrer, and does not follow robots.txt: a
 * person looks at the page.
 */
export function createImageFetcher({
  userAgent,
  maxBytes = 2 * 1024 * 1024,
  totalMs = 10_000,
  allowPrivate = false,
  resolve,
}: ImageFetcherOptions): ImageFetcher {
  const agent = new Agent({
    connect: createConnector({
      timeout: totalMs,
      ...(allowPrivate ? {} : { lookup: guardedLookup(resolve) }),
    }),
    headersTimeout: totalMs,
    bodyTimeout: totalMs,
    maxHeaderSize: 16 * 1024,
    allowH2: false,
  });
  let running = 0;

  const request = async (
    address: string,
    signal: AbortSignal,
    redirects: number,
  ): Promise<Picture> => {
    const origin = storeOrigin(address, allowPrivate);
    const { pathname, search, host } = new URL(address);
    const headers = {
      accept: pictureTypes.join(', '),
      'user-agent': userAgent,
      'accept-encoding': 'identity',
    };
    const response = await agent.request({
      origin,
      path: pathname + search,
      method: 'GET',
      headers,
      signal,
    });
    const { statusCode, body } = response;
    try {
      if (statusCode >= 300 && statusCode < 400 && response.headers.location !== undefined) {
        if (redirects === 0) throw new Fault('page_unreadable', `${host}: too many redirects`);
        const next = new URL(String(response.headers.location), address).href;
        return await request(next, signal, redirects - 1);
      }
      if (statusCode !== 200) throw new Fault('page_unreadable', `${host}: status ${statusCode}`);
      const bytes = await readBytes(body, maxBytes, host);
      const contentType = pictureType(bytes);
      if (contentType === null)
        throw new Fault('page_unreadable', `${host}: the content is not a picture`);
      return { contentType, bytes };
    } finally {
      body.on('error', () => {}).destroy();
    }
  };
  return {
    async fetch(url, caller) {
      if (running >= maxConcurrent)
        throw new Fault('page_throttled', 'too many concurrent image requests');
      running += 1;
      const timeout = AbortSignal.timeout(totalMs);
      try {
        return await request(url, AbortSignal.any([caller, timeout]), maxRedirects);
      } catch (error) {
        if (timeout.aborted)
          throw new Fault('page_timeout', `no picture within ${totalMs} ms`, { cause: error });
        throw networkFault(error, URL.canParse(url) ? new URL(url).host : 'the address');
      } finally {
        running -= 1;
      }
    },
    close: () => agent.destroy(),
  };
}

async function readBytes(
  body: AsyncIterable<Buffer>,
  maxBytes: number,
  host: string,
): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of body) {
    length += chunk.length;
    if (length > maxBytes)
      throw new Fault('page_too_large', `${host}: a picture of more than ${maxBytes} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

const pictureTypes = ['image/avif', 'image/webp', 'image/png', 'image/jpeg', 'image/gif'];

/**
 * Returns the media type of a picture by its first bytes, or null for other content, such as SVG,
 * which can contain scripts.
 */
export function pictureType(bytes: Uint8Array): string | null {
  const start = Buffer.from(bytes.subarray(0, 16)).toString('latin1');
  if (start.startsWith('\x89PNG\r\n\x1a\n')) return 'image/png';
  if (start.startsWith('\xff\xd8\xff')) return 'image/jpeg';
  if (/^GIF8[79]a/.test(start)) return 'image/gif';
  if (/^RIFF.{4}WEBP/s.test(start)) return 'image/webp';
  return /^.{4}ftyp(?:avif|avis)/s.test(start) ? 'image/avif' : null;
}
