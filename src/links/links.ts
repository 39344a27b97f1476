import { createHmac, timingSafeEqual } from 'node:crypto';
import type { Clock } from '../base/clock.ts';
import { sameText } from '../base/sealing.ts';
import { Fault } from '../contract/fault.ts';
import { type FileRecord, isBatchFile, type SignedFile } from '../contract/files.ts';
import { pathPart } from '../contract/path-part.ts';
import type { LinkSecrets } from './secrets.ts';

export interface LinkOptions {
  /** File name for Content-Disposition. Defaults to the last segment of the path. */
  fileName?: string;
  /** Also requires an API key of this user. */
  bearerOf?: string;
  /** What the file must be when it is served. */
  record?: FileRecord;
  /**
   * True for a link whose name takes the extension of a format. Programs that read an address by
   * its extension would take a converted `….jsonl.gz` for a compressed file.
   */
  convertible?: boolean;
}

/** Creates and verifies signed links to result files. */
export interface Links {
  /** Creates a link to `<job id>/<file name>`, valid for 7 days. */
  link(path: string, options?: LinkOptions): string;
  /**
   * Verifies a link given as a URL or as a path with query, with or without /v1. Throws
   * `link_invalid` if it was modified, has expired or is not signed by this service.
   */
  verify(link: string): SignedFile;
}

/** Lifetime of a link. */
const linkSeconds = 7 * 24 * 3600;

/**
 * Options for createLinks(). `publicUrl` returns the base URL, which may be known only after the
 * server listens.
 */
export interface LinksOptions {
  secrets: LinkSecrets;
  publicUrl: () => string;
  clock: Clock;
}

/** Parts of a link that its signature covers. */
interface SignedParts {
  path: string;
  expires: string;
  name: string | undefined;
  user: string | undefined;
  bytes: string | undefined;
  sha256: string | undefined;
}

/** Query parameters that the signature covers, in their order in a link. */
const signedParameters = ['expires', 'name', 'user', 'bytes', 'sha256'] as const;

/** Creates the signer of links: HMAC-SHA-256 over path, expiry, file name, owner and record. */
export function createLinks({ secrets, publicUrl, clock }: LinksOptions): Links {
  const signatures = createSignatures();
  return {
    link: (path, { fileName, bearerOf, record, convertible = false } = {}) => {
      const signed: SignedParts = {
        path,
        expires: String(Math.floor(clock.now() / 1000) + linkSeconds),
        name: fileName,
        user: bearerOf,
        bytes: record && String(record.bytes),
        sha256: record?.sha256,
      };
      const signature = signatures.sign(secrets.newest(), signed);
      const query = signedParameters.flatMap((parameter) => {
        const value = signed[parameter];
        return value === undefined ? [] : [`${parameter}=${pathPart(value)}`];
      });
      const { folder, name } = splitPath(path);
      if (convertible) query.unshift(`source=${pathPart(name)}`);
      const linkName = convertible ? stemOf(name) : name;
      const filePath = `${pathPart(folder)}/${pathPart(linkName)}`;
      return `${publicUrl()}/files/${filePath}?${query.join('&')}&signature=${signature}`;
    },

    verify: (link) => {
      const { path: linkedPath, query } = parseLink(link);
      const { path, format } = resolveSource(linkedPath, once(query, 'source'));
      // Stryker disable next-line StringLiteral: no text but the signature is accepted
      const signature = once(query, 'signature') ?? '';
      const signed: SignedParts = {
        path,
        // Stryker disable next-line StringLiteral: no link is signed without an expiry
        expires: once(query, 'expires') ?? '',
        name: once(query, 'name'),
        user: once(query, 'user'),
        bytes: once(query, 'bytes'),
        sha256: once(query, 'sha256'),
      };
      if (!secrets.all().some((secret) => sameText(sign(secret, signed), signature)))
        throw modified();
      if (Number(signed.expires) * 1000 <= clock.now())
        throw new Fault('link_invalid', 'The link has expired: request a new one');
      const { bytes, name, sha256, user: userId = '' } = signed;
      const hasRecord = bytes !== undefined && sha256 !== undefined;
      return {
        path,
        fileName: name ?? splitPath(path).name,
        bearer: userId !== '',
        userId,
        format,
        record: hasRecord ? { bytes: Number(bytes), sha256 } : undefined,
      };
    },
  };
}

/** Properties of a job that its links depend on. */
interface LinkedJob {
  userId: string;
  filesDeletedAt: number | null;
}

/** Stored file of a job. */
interface LinkedFile extends FileRecord {
  path: string;
}

/** Links to the files of jobs. With `bearer`, they also require an API key of the job's owner. */
export interface FileLinks {
  /** Returns a link to a file: the engine's if it has links, otherwise a signed one. */
  file(job: LinkedJob, file: LinkedFile, bearer: boolean): Promise<string>;
  /** Returns a signed link whose name takes the extension of a format. */
  records(job: LinkedJob, file: LinkedFile, bearer: boolean): string;
}

/** Creates links to files. `presign` is the method of the result storage. */
export function createFileLinks(
  { link }: Pick<Links, 'link'>,
  presign: (path: string, fileName: string, seconds: number) => Promise<string | null>,
): FileLinks {
  const optionsOf = ({ userId }: LinkedJob, { bytes, sha256 }: LinkedFile, bearer: boolean) => ({
    record: { bytes, sha256 },
    ...(bearer ? { bearerOf: userId } : {}),
  });
  return {
    records: (job, file, bearer) =>
      link(file.path, { ...optionsOf(job, file, bearer), convertible: true }),
    async file(job, file, bearer) {
      const { path } = file;
      // The engine would answer 404 for a deleted file, the service 410.
      const isSigned = bearer || job.filesDeletedAt !== null || isBatchFile(path);
      const presigned = isSigned ? null : await presign(path, splitPath(path).name, linkSeconds);
      return presigned ?? link(path, optionsOf(job, file, bearer));
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

/** Splits `<job id>/<file name>`. A path without a slash has no folder. */
function splitPath(path: string): { folder: string; name: string } {
  const slash = path.lastIndexOf('/');
  return { folder: path.slice(0, Math.max(0, slash)), name: path.slice(slash + 1) };
}

/** Returns the name of a result file without its extensions: `full` for `full.jsonl.gz`. */
const stemOf = (name: string) => name.replace(/\.gz$/, '').replace(/\.[a-z]+$/, '');

/**
 * Returns the path of the file that a link names: its source, whose name without extensions it has,
 * followed by the extension of a format, or by none. Throws `link_invalid`.
 */
function resolveSource(
  path: string,
  source: string | undefined,
): { path: string; format: string | undefined } {
  if (source === undefined) return { path, format: undefined };
  const { folder, name } = splitPath(path);
  const stem = stemOf(source);
  const extension = name.slice(stem.length);
  if (!name.startsWith(stem) || !/^(?:\.[a-z]{1,10})?$/.test(extension)) throw modified();
  return { path: `${folder}/${source}`, format: extension === '' ? undefined : extension.slice(1) };
}

/**
 * Returns a parameter of a link, or undefined if there is none. Throws `link_invalid` for a
 * repeated one.
 */
function once(query: URLSearchParams, parameter: string): string | undefined {
  const [value, ...repetitions] = query.getAll(parameter);
  if (repetitions.length > 0) throw modified();
  return value;
}

const modified = () =>
  new Fault('link_invalid', 'The link is not valid: it was modified or its secret was retired');

/** Maximum signatures kept for reuse within one second. */
const maxSignatures = 10_000;

/**
 * Creates a signer that reuses signatures within a second. Expiry times have a precision of one
 * second, so links of one second are equal.
 */
function createSignatures(): { sign: typeof sign } {
  const signatures = new Map<string, string>();
  let current = '';
  let currentSecret = '';
  return {
    sign: (secret, signed) => {
      const { path, expires, name, user, sha256 } = signed;
      if (expires !== current || secret !== currentSecret || signatures.size >= maxSignatures)
        signatures.clear();
      current = expires;
      currentSecret = secret;
      const key = JSON.stringify([path, name, user, sha256]);
      const cached = signatures.get(key);
      if (cached !== undefined) return cached;
      const signature = sign(secret, signed);
      signatures.set(key, signature);
      return signature;
    },
  };
}

function sign(secret: string, { path, expires, name, user, bytes, sha256 }: SignedParts): string {
  const record = bytes === undefined && sha256 === undefined ? [] : [bytes ?? null, sha256 ?? null];
  // JSON keeps the parts unambiguous whatever characters they contain.
  const signed = JSON.stringify([path, expires, name ?? null, user ?? null, ...record]);
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
export function writeItemToken(
  secrets: LinkSecrets,
  jobId: string,
  { batchId, index }: ItemPlace,
): string {
  const position = Buffer.from(`${batchId}.${index}`);
  return Buffer.concat([mac(secrets.newest(), jobId, position), position]).toString('base64url');
}

/** Returns the unit that a token addresses, or null if the token is invalid for this job. */
export function readItemToken(
  secrets: LinkSecrets,
  jobId: string,
  token: string,
): ItemPlace | null {
  const bytes = Buffer.from(token, 'base64url');
  const position = bytes.subarray(macBytes);
  const match = /^([0-9a-f-]{36})\.(\d{1,9})$/.exec(position.toString('latin1'));
  if (match === null || bytes.toString('base64url') !== token) return null;
  const signature = bytes.subarray(0, macBytes);
  if (!secrets.all().some((secret) => timingSafeEqual(mac(secret, jobId, position), signature)))
    return null;
  return { batchId: match[1]!, index: Number(match[2]) };
}

function mac(secret: string, jobId: string, position: Uint8Array): Buffer {
  return createHmac('sha256', secret)
    .update(`item\n${jobId}\n`)
    .update(position)
    .digest()
    .subarray(0, macBytes);
}
