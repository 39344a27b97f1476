import { createHash } from 'node:crypto';
import { addHeaders, admit, type Exchange } from '../../../gateway/request-context.ts';
import { countRequest } from '../../../gateway/serve-endpoint.ts';
import { acceptRequest, beginLongRequest } from '../../base/connections.ts';
import { checkFile, compareFile, damagedFile } from '../../base/recorded-file.ts';
import type { Caller, Headers } from '../../contract/caller.ts';
import { Fault } from '../../contract/fault.ts';
import {
  type ConvertedFile,
  type FileConversion,
  type FilePlace,
  type FileRecord,
  isBatchFile,
  type SignedFile,
} from '../../contract/files.ts';
import type { Conversions } from './conversions.ts';
import { type FileContents, type FileReader, placedContents } from './file-place.ts';
import { sendConversion, sendStored } from './send-file.ts';

/** Verifies a signed link, given from its path on. Throws `link_invalid`. */
export type VerifyLink = (link: string) => SignedFile;

/**
 * Returns the records of a result file, until the signal aborts. Throws `invalid` for an unknown
 * format or filter, `conflict`, `results_deleted`, `unavailable`.
 */
export type ExportFile = (
  path: string,
  exportOptions: FileConversion,
  signal: AbortSignal,
) => Promise<ConvertedFile>;

/**
 * Returns the place of a file that is missing or damaged, or null after it was written again.
 * Throws `results_deleted`, or `storage_damaged` if there is no copy of it.
 */
export type RestoreFile = (path: string) => Promise<FilePlace | null>;

/** Dependencies of serveFile(). */
export interface FileServing {
  caller: Caller;
  files: FileReader;
  verifyLink: VerifyLink;
  exportFile: ExportFile;
  restoreFile: RestoreFile;
  /**
   * Returns the account of a job. Downloads are counted by account; without this function, by job,
   * because a link does not name the account.
   */
  accountOf?: ((jobId: string) => Promise<string | null>) | undefined;
  conversions: Conversions;
  /** Version of the program: another one may format records differently. */
  version: string;
}

// Long enough to follow a redirect, too short to share.
const redirectSeconds = 60;

// A web page whose policy allows its own origin only cannot follow a redirect and sends `Prefer:
// no-redirect`.
const prefersNoRedirect = /(?:^|,)\s*no-redirect\s*(?:[,;]|$)/i;

/**
 * Serves a signed link. An error before the first byte is a response, without the headers of the
 * file.
 */
export async function serveFile(serving: FileServing, exchange: Exchange): Promise<void> {
  const link = await verifyRequest(serving, exchange);
  const wasSuspect = suspects.has(link.path);
  try {
    await serveCleanly(serving, exchange, link);
  } catch (error) {
    const isFound = !wasSuspect && suspects.has(link.path);
    const isMoved = Fault.from(error).code === 'not_found' && isBatchFile(link.path);
    if (!(isFound || isMoved) || exchange.response.headersSent) throw error;
    // The next read of the file detects the damage again and restores the file, or finds it at its
    // new place.
    await serveCleanly(serving, exchange, link);
  }
}

/** Serves a link. Leaves no header of the file to the response with an error. */
async function serveCleanly(
  serving: FileServing,
  exchange: Exchange,
  link: SignedFile,
): Promise<void> {
  const { response } = exchange;
  const otherNames = new Set(response.getHeaderNames());
  try {
    await serveLink(serving, exchange, link);
  } catch (error) {
    if (!response.headersSent)
      for (const name of response.getHeaderNames())
        if (ofFile.has(name) && !otherNames.has(name)) response.removeHeader(name);
    throw error;
  }
}

const isDamage = (error: unknown) => Fault.from(error).code === 'storage_damaged';

/** Headers of a response with a file. */
const ofFile = new Set([
  'accept-ranges',
  'cache-control',
  'content-disposition',
  'content-encoding',
  'content-length',
  'content-range',
  'content-type',
  'etag',
  'repr-digest',
]);

/**
 * Verifies the link of a request. A link with `bearer` also requires the key of its owner: 401
 * without one, 404 for another user. Counts the download.
 */
async function verifyRequest(serving: FileServing, exchange: Exchange): Promise<SignedFile> {
  const { caller, verifyLink, accountOf } = serving;
  const { request, response } = exchange;
  const link = verifyLink(request.url ?? '');
  if (link.bearer) {
    const session = await caller.authenticate(request.headers as Headers);
    admit(exchange, session);
    addHeaders(exchange, await countRequest(session));
    if (session.userId !== link.userId) throw noSuchFile();
  }
  const [jobId = ''] = link.path.split('/', 1);
  const account = (await accountOf?.(jobId)) ?? jobId;
  acceptRequest(request, account);
  await beginLongRequest(request, response, { account, kind: 'download' });
  return link;
}

/** Most paths of files that are remembered as damaged. */
const maxSuspects = 1_000;
/** Files that were found damaged while they were sent. They are read before they are sent again. */
const suspects = new Set<string>();

function suspect(path: string): void {
  if (suspects.size >= maxSuspects) suspects.clear();
  suspects.add(path);
}

/**
 * Returns the contents of a linked file. A file that is missing or damaged is restored first.
 * Throws `results_deleted`, `storage_damaged`.
 */
async function requireFile(
  { files, restoreFile }: FileServing,
  { path, record }: SignedFile,
): Promise<FileContents> {
  const read: FileContents['read'] = (part) => files.read(path, part);
  const size = await files.size(path);
  if (size !== null && (await isAsRecorded(path, { size, read }, record))) return { size, read };
  const filePlace = await restoreFile(path);
  if (filePlace !== null) {
    const placed = placedContents(files, filePlace);
    if (await isAsRecorded(path, placed, record)) return placed;
    throw damagedFile(path, 'has other contents than were written');
  }
  const restoredSize = await files.size(path);
  if (restoredSize === null) throw new Fault('results_deleted', 'This file was deleted.');
  suspects.delete(path);
  return { size: restoredSize, read };
}

/**
 * Compares the size of a file with its record, and the contents of a file that was found damaged.
 */
async function isAsRecorded(
  path: string,
  { size, read }: FileContents,
  record: FileRecord | undefined,
): Promise<boolean> {
  if (record === undefined) return true;
  if (size !== record.bytes) return false;
  if (!suspects.has(path)) return true;
  try {
    await checkFile(path, record, await read());
  } catch (error) {
    if (isDamage(error)) return false;
    throw error;
  }
  suspects.delete(path);
  return true;
}

/**
 * Serves a signed link: the file or a range of it, or a redirect to the storage engine unless the
 * client prefers none. A signed link was valid for an existing file, so a missing one was deleted:
 * 410.
 */
async function serveLink(
  serving: FileServing,
  exchange: Exchange,
  link: SignedFile,
): Promise<void> {
  const { files } = serving;
  const { request, response } = exchange;
  const { path, fileName, record } = link;
  const { size, read } = await requireFile(serving, link);
  const exportOptions = exportOf(request.url!, link.format ?? '');
  if (exportOptions !== null) {
    await serveExport(serving, exchange, { path, size, options: exportOptions });
    return;
  }
  const isRedirected =
    !isBatchFile(path) && !prefersNoRedirect.test(String(request.headers.prefer ?? ''));
  const presigned = isRedirected ? await files.presign(path, fileName, redirectSeconds) : null;
  if (presigned !== null) {
    response
      .writeHead(302, { location: presigned, 'cache-control': 'no-store', 'content-length': 0 })
      .end();
    return;
  }
  await sendStored(exchange, {
    size,
    contentType: contentTypeOf(path),
    fileName,
    // Result files never change once written: path and size identify their contents.
    tag: tagOf(path, size),
    digest: record && formatDigest(record),
    async read(part) {
      const contents = await read(part);
      const isWhole = part === undefined || (part.start === 0 && part.end === size - 1);
      if (record !== undefined && isWhole) return checked(path, record, contents);
      return contents;
    },
  });
}

/** Yields the contents of a file like compareFile(), and remembers a file that is damaged. */
async function* checked(
  path: string,
  record: FileRecord,
  contents: AsyncIterable<Uint8Array>,
): AsyncGenerator<Uint8Array> {
  try {
    yield* compareFile(path, record, contents);
  } catch (error) {
    if (isDamage(error)) suspect(path);
    throw error;
  }
}

/** Returns the Repr-Digest header of a file (RFC 9530). */
const formatDigest = ({ sha256 }: FileRecord) =>
  `sha-256=:${Buffer.from(sha256, 'hex').toString('base64')}:`;

const tagOf = (...identity: readonly (string | number)[]) =>
  `"${createHash('sha256').update(identity.join(' ')).digest('base64url').slice(0, 27)}"`;

const exportParams = ['format', 'only', 'columns'] as const satisfies (keyof FileConversion)[];

/**
 * Returns the export that a link requests by its name and its query, or null for the unconverted
 * file.
 */
function exportOf(url: string, format: string): FileConversion | null {
  const query = new URLSearchParams(url.slice(url.indexOf('?') + 1));
  const exportOptions = exportParams.map((name) => [name, query.get(name)] as const);
  if (format === '' && exportOptions.every(([, value]) => value === null)) return null;
  const values = Object.fromEntries(exportOptions.map(([name, value]) => [name, value ?? '']));
  return { ...values, format: query.get('format') ?? format } as unknown as FileConversion;
}

/** The file whose records are exported. */
interface ExportSource {
  path: string;
  size: number;
  options: FileConversion;
}

/** Maximum bytes of a result file whose conversions are kept. */
const maxKeptSourceBytes = 64 * 1024 ** 2;

/**
 * Serves the records of a file in another format. The first request writes them to a temporary
 * file, so that they have a size and ranges. Those that are too large are sent as they are made.
 */
async function serveExport(
  serving: FileServing,
  exchange: Exchange,
  source: ExportSource,
): Promise<void> {
  const { conversions, exportFile, version } = serving;
  const { path, size, options } = source;
  const tag = tagOf(path, size, options.format, options.only, options.columns, version);
  const convert = (signal: AbortSignal) => exportFile(path, options, signal);
  const stored = size > maxKeptSourceBytes ? null : await conversions.open(tag, convert);
  if (stored === null) {
    await streamExport(exchange, tag, convert);
    return;
  }
  const { contentType, fileName, bytes } = stored;
  await sendStored(exchange, {
    size: bytes,
    contentType,
    fileName,
    tag,
    read: async (part) => stored.read(part),
  });
}

/** Streams a conversion while it is produced. Ranges are ignored, since its size is unknown. */
async function streamExport(
  exchange: Exchange,
  tag: string,
  convert: (signal: AbortSignal) => Promise<ConvertedFile>,
): Promise<void> {
  const ended = new AbortController();
  try {
    await sendConversion(exchange, tag, await convert(ended.signal));
  } finally {
    ended.abort(new Error('the response ended'));
  }
}

function noSuchFile(): Fault {
  return new Fault('not_found', 'No such file');
}

/** Returns the media type of a result file; a gzip file has no content encoding. */
export function contentTypeOf(name: string): string {
  if (name.endsWith('.gz')) return 'application/gzip';
  if (name.endsWith('.json')) return 'application/json';
  if (name.endsWith('.jsonl')) return 'application/x-ndjson';
  if (name.endsWith('.csv')) return 'text/csv; charset=utf-8';
  return 'application/octet-stream';
}
