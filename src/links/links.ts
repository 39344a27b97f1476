import { createHmac, timingSafeEqual } from 'node:crypto';
import type { Clock } from '../base/clock.ts';
import { Fault } from '../base/fault.ts';
import type { LinkSecrets } from './secrets.ts';

/** A file that a link names, as signed. */
export interface SignedFile {
  /** `<job id>/<file name>`. */
  path: string;
  /** Name under which the file is to be saved. */
  fileName: string;
  /** The Bearer key of `userId` is needed beside the link. */
  bearer: boolean;
  /** Owner of the file; empty where the link alone is enough. */
  userId: string;
}

/** What a link asks of its reader beside itself. */
export interface LinkOptions {
  /** Name to save the file under; the path's last part without it. */
  fileName?: string;
  /** Needs the Bearer key of this user, too (interface, "Authentication" 5). */
  bearerOf?: string;
}

/** Makes and checks signed links to result files. */
export interface Links {
  /** A link to `<job id>/<file name>`, good for 7 days. */
  link(path: string, options?: LinkOptions): string;
  /**
   * Reads a link, given whole or from its path on, with or without /v1. Fault: `link_invalid` for one
   * that was changed, has expired or was never ours.
   */
  verify(link: string): SignedFile;
}

/** How long a link is good for (interface, "Limits"). */
export const linkSeconds = 7 * 24 * 3600;

/** What links are made with. `publicUrl` says what they start with: it may be known late. */
export interface LinksOptions {
  secrets: LinkSecrets;
  publicUrl: () => string;
  clock: Clock;
}

/** Links signed with HMAC-SHA-256 over path, expiry, file name and owner. */
export function createLinks({ secrets, publicUrl, clock }: LinksOptions): Links {
  return {
    link: (path, options = {}) => {
      const expires = Math.floor(clock.now() / 1000) + linkSeconds;
      const query = new URLSearchParams({ expires: String(expires) });
      if (options.fileName !== undefined) query.set('name', options.fileName);
      if (options.bearerOf !== undefined) query.set('user', options.bearerOf);
      query.set('signature', sign(secrets.newest(), path, query));
      return `${publicUrl()}/files/${path.split('/').map(encodeURIComponent).join('/')}?${query}`;
    },

    verify: (link) => {
      const { path, query } = take(link);
      const given = query.get('signature') ?? '';
      const expires = query.get('expires') ?? '';
      query.delete('signature');
      const known = () => secrets.all().some((secret) => same(sign(secret, path, query), given));
      if (!known()) {
        secrets.refresh();
        if (!known())
          throw new Fault('link_invalid', 'The link is not valid: it was changed, or its key is gone');
      }
      if (Number(expires) * 1000 <= clock.now())
        throw new Fault('link_invalid', 'The link has expired: ask for a new one');
      const userId = query.get('user') ?? '';
      return {
        path,
        fileName: query.get('name') ?? path.slice(path.lastIndexOf('/') + 1),
        bearer: userId !== '',
        userId,
      };
    },
  };
}

/** Path of the file and what the link says about it; other parameters than ours are not ours to check. */
function take(link: string): { path: string; query: URLSearchParams } {
  const match = /^(?:https?:\/\/[^/?#]*)?[^?#]*?\/files\/([^?#]+)\?([^#]*)/.exec(link);
  let path: string;
  try {
    path = decodeURIComponent(match?.[1] ?? '');
  } catch {
    path = '';
  }
  if (path === '') throw new Fault('link_invalid', 'The link is not valid: it is not whole');
  return { path, query: new URLSearchParams(match?.[2]) };
}

function sign(secret: string, path: string, query: URLSearchParams): string {
  const signed = JSON.stringify([path, query.get('expires'), query.get('name'), query.get('user')]);
  return createHmac('sha256', secret).update(signed).digest('base64url');
}

function same(one: string, other: string): boolean {
  const [a, b] = [Buffer.from(one), Buffer.from(other)];
  return a.length === b.length && timingSafeEqual(a, b);
}
