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
  const signatures = createSignatures();
  return {
    link: (path, { fileName, bearerOf } = {}) => {
      const expires = String(Math.floor(clock.now() / 1000) + linkSeconds);
      const signature = signatures.sign(secrets.newest(), path, expires, fileName, bearerOf);
      const name = fileName === undefined ? '' : `&name=${encodeURIComponent(fileName)}`;
      const user = bearerOf === undefined ? '' : `&user=${encodeURIComponent(bearerOf)}`;
      const place = path.split('/').map(encodeURIComponent).join('/');
      return `${publicUrl()}/files/${place}?expires=${expires}${name}${user}&signature=${signature}`;
    },

    verify: (link) => {
      const { path, query } = take(link);
      // Stryker disable next-line StringLiteral: no text but the signature is accepted
      const given = query.get('signature') ?? '';
      // Stryker disable next-line StringLiteral: no link is signed without an expiry
      const expires = query.get('expires') ?? '';
      const name = query.get('name') ?? undefined;
      const user = query.get('user') ?? undefined;
      const known = () =>
        secrets.all().some((secret) => same(sign(secret, path, expires, name, user), given));
      if (!known()) {
        secrets.refresh();
        if (!known())
          throw new Fault('link_invalid', 'The link is not valid: it was changed, or its key is gone');
      }
      if (Number(expires) * 1000 <= clock.now())
        throw new Fault('link_invalid', 'The link has expired: ask for a new one');
      const userId = user ?? '';
      return {
        path,
        fileName: name ?? path.slice(path.lastIndexOf('/') + 1),
        bearer: userId !== '',
        userId,
      };
    },
  };
}

/** Path of the file and what the link says about it; other parameters than ours are not ours to check. */
function take(link: string): { path: string; query: URLSearchParams } {
  const match = /^(?:https?:\/\/)?[^?#]*?\/files\/([^?#]+)\?([^#]*)/.exec(link);
  try {
    // Stryker disable next-line ConditionalExpression: without a match, decoding fails
    if (match !== null) return { path: decodeURIComponent(match[1]!), query: new URLSearchParams(match[2]) };
  } catch {
    // The path is not percent-encoded UTF-8.
  }
  throw new Fault('link_invalid', 'The link is not valid: it is not whole');
}

/** Maximum signatures kept for reuse within one second. */
const maxSignatures = 10_000;

/** Creates a signer that reuses signatures within a second: links count seconds, so those of one second are equal. */
function createSignatures(): { sign: typeof sign } {
  const kept = new Map<string, string>();
  let current = '';
  let currentSecret = '';
  return {
    sign: (secret, path, expires, name, user) => {
      if (expires !== current || secret !== currentSecret || kept.size >= maxSignatures) kept.clear();
      current = expires;
      currentSecret = secret;
      const key = JSON.stringify([path, name, user]);
      let signature = kept.get(key);
      if (signature === undefined) {
        signature = sign(secret, path, expires, name, user);
        kept.set(key, signature);
      }
      return signature;
    },
  };
}

function sign(
  secret: string,
  path: string,
  expires: string,
  name: string | undefined,
  user: string | undefined,
): string {
  // Brackets and quotes keep the parts apart, whatever they hold.
  const signed = JSON.stringify([path, expires, name ?? null, user ?? null]);
  return createHmac('sha256', secret).update(signed).digest('base64url');
}

function same(one: string, other: string): boolean {
  const [a, b] = [Buffer.from(one), Buffer.from(other)];
  return a.length === b.length && timingSafeEqual(a, b);
}
