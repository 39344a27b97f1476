import { createHmac, timingSafeEqual } from 'node:crypto';
import type { Clock } from '../../base/clock.ts';
import { sameText } from '../../base/sealing.ts';
import { Fault } from '../../contract/fault.ts';
import type { SignedFile } from '../../contract/files.ts';
import type { LinkSecrets } from './secrets.ts';

export interface LinkOptions {
  /** File name for Content-Disposition. Defaults to the last segment of the path. */
  fileName?: string;
  /** Also requires an API key of this user. */
  bearerOf?: string;
}

/** Creates and verifies signed links to result files. */
export interface Links {
  /** Creates a link to `<job id>/<file name>`, valid for 7 days. */
  link(path: string, options?: LinkOptions): string;
  /**
   * Verifies a link given as a URL or as a path with query, with or without /v1. Throws `link_invalid` if it
   * was modified, has expired or is not signed by this service.
   */
  verify(link: string): SignedFile;
}

/** Lifetime of a link. */
export const linkSeconds = 7 * 24 * 3600;

/**
 * Options for createLinks(). `publicUrl` returns the base URL, which may be known only after the server
 * listens.
 */
export interface LinksOptions {
  secrets: LinkSecrets;
  publicUrl: () => string;
  clock: Clock;
}

/** Creates the signer of links: HMAC-SHA-256 over path, expiry, file name and owner. */
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
      const { path, query } = parseLink(link);
      // Stryker disable next-line StringLiteral: no text but the signature is accepted
      const given = once(query, 'signature') ?? '';
      // Stryker disable next-line StringLiteral: no link is signed without an expiry
      const expires = once(query, 'expires') ?? '';
      const name = once(query, 'name');
      const user = once(query, 'user');
      if (!secrets.all().some((secret) => sameText(sign(secret, path, expires, name, user), given)))
        throw modified();
      if (Number(expires) * 1000 <= clock.now())
        throw new Fault('link_invalid', 'The link has expired: request a new one');
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

/** Splits a link into the file's path and the query. Unknown parameters are ignored. */
function parseLink(link: string): { path: string; query: URLSearchParams } {
  // Each step reads the link once: it is a header of any caller.
  // The host may be called "files".
  const address = link.split('#', 1)[0]!.replace(/^https?:\/\/[^/?]*/, '');
  const question = address.indexOf('?');
  const start = address.indexOf('/files/') + '/files/'.length;
  try {
    if (start >= '/files/'.length && start < question) {
      const path = decodeURIComponent(address.slice(start, question));
      return { path, query: new URLSearchParams(address.slice(question + 1)) };
    }
  } catch {
    // The path is not percent-encoded UTF-8.
  }
  throw new Fault('link_invalid', 'The link is not valid: it is incomplete');
}

/** Returns a parameter of a link, or undefined if there is none. Throws `link_invalid` for a repeated one. */
function once(query: URLSearchParams, parameter: string): string | undefined {
  const [value, ...others] = query.getAll(parameter);
  if (others.length > 0) throw modified();
  return value;
}

const modified = () =>
  new Fault('link_invalid', 'The link is not valid: it was modified or its secret was retired');

/** Maximum signatures kept for reuse within one second. */
const maxSignatures = 10_000;

/**
 * Creates a signer that reuses signatures within a second. Expiry times have a precision of one second, so
 * links of one second are equal.
 */
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
  // JSON keeps the parts unambiguous whatever characters they contain.
  const signed = JSON.stringify([path, expires, name ?? null, user ?? null]);
  return createHmac('sha256', secret).update(signed).digest('base64url');
}

/** Position of a unit within a job. */
export interface ItemPlace {
  batchId: string;
  index: number;
}

const macBytes = 16;

/**
 * Creates the opaque token that addresses a unit in the data path. It is deterministic for a
 * unit and secret, and invalid for any other job.
 */
export function writeItemToken(secrets: LinkSecrets, jobId: string, { batchId, index }: ItemPlace): string {
  const place = Buffer.from(`${batchId}.${index}`);
  return Buffer.concat([mac(secrets.newest(), jobId, place), place]).toString('base64url');
}

/** Returns the unit that a token addresses, or null if the token is invalid for this job. */
export function readItemToken(secrets: LinkSecrets, jobId: string, token: string): ItemPlace | null {
  const bytes = Buffer.from(token, 'base64url');
  const place = bytes.subarray(macBytes);
  const match = /^([0-9a-f-]{36})\.(\d{1,9})$/.exec(place.toString('latin1'));
  if (match === null || bytes.toString('base64url') !== token) return null;
  const given = bytes.subarray(0, macBytes);
  if (!secrets.all().some((secret) => timingSafeEqual(mac(secret, jobId, place), given))) return null;
  return { batchId: match[1]!, index: Number(match[2]) };
}

function mac(secret: string, jobId: string, place: Uint8Array): Buffer {
  return createHmac('sha256', secret).update(`item\n${jobId}\n`).update(place).digest().subarray(0, macBytes);
}
