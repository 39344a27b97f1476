import { createHmac } from 'node:crypto';
import type { Clock } from '../base/clock.ts';
import { sameText } from '../base/sealing.ts';
import { Fault } from '../contract/fault.ts';
import type { LinkSecrets } from './secrets.ts';

/**
 * Signed paths of pictures, so that the service only fetches addresses that it found in a record.
 */
export interface ImageLinks {
  /** Returns the path at which the service serves the image of a URL: `/images?…`. */
  path(url: string): string;
  /** Returns the address of a signed path. Throws `link_invalid` for another or an expired one. */
  verify(path: string): string;
}

const daySeconds = 24 * 3600;

/**
 * Creates signed paths, valid for one to two days. Paths of one day are equal, so that browsers
 * cache the images.
 */
export function createImageLinks({
  secrets,
  clock,
}: {
  secrets: LinkSecrets;
  clock: Clock;
}): ImageLinks {
  return {
    path(url) {
      const expires = (Math.floor(clock.now() / 1000 / daySeconds) + 2) * daySeconds;
      const query = new URLSearchParams({ url, expires: String(expires) });
      return `/images?${query}&signature=${sign(secrets.newest(), url, String(expires))}`;
    },
    verify(path) {
      const query = new URLSearchParams(path.slice(path.indexOf('?') + 1));
      const [url, expires, signature] = ['url', 'expires', 'signature'].map(
        (name) => query.get(name) ?? '',
      );
      const isKnown = secrets
        .all()
        .some((secret) => sameText(sign(secret, url!, expires!), signature!));
      if (!isKnown) throw new Fault('link_invalid', 'The link is not valid.');
      if (Number(expires) * 1000 <= clock.now())
        throw new Fault('link_invalid', 'The link has expired.');
      return url!;
    },
  };
}

function sign(secret: string, url: string, expires: string): string {
  // A file's link signs another list, so that neither signature fits the other.
  return createHmac('sha256', secret)
    .update(JSON.stringify(['image', url, expires]))
    .digest('base64url');
}
