import type { Exchange } from '../../gateway/exchange.ts';
import { Fault } from '../contract/fault.ts';

/** Pictures of records, shown to browsers by this service. */
export interface ImageServing {
  /** Returns the address of a signed path. Fault `link_invalid`. */
  verify(path: string): string;
  /** Returns the picture at an address. Rejects with a Fault if there is none. */
  fetch(url: string, signal: AbortSignal): Promise<{ contentType: string; bytes: Uint8Array }>;
}

/**
 * Serves a picture by a signed path, with headers that keep a browser from treating it as anything else. Fault `not_found`
 * if the site does not send a picture, or if the service shows none.
 */
export async function serveImage(images: ImageServing | undefined, exchange: Exchange): Promise<void> {
  const { request, response, signal } = exchange;
  if (images === undefined) throw new Fault('not_found', 'This service shows no pictures.');
  const url = images.verify(request.url!);
  const { contentType, bytes } = await images.fetch(url, signal).catch((error: unknown) => {
    throw new Fault('not_found', 'There is no picture at this address.', { cause: error });
  });
  response.writeHead(200, {
    'content-type': contentType,
    'content-length': bytes.length,
    'cache-control': 'private, max-age=86400',
    'content-security-policy': "default-src 'none'; sandbox",
    'cross-origin-resource-policy': 'same-origin',
    'x-content-type-options': 'nosniff',
  });
  response.end(request.method === 'HEAD' ? undefined : bytes);
}
