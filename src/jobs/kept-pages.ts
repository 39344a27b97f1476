import { parseDuration } from '../base/duration.ts';
import { sha256 } from '../base/id.ts';
import { Fault } from '../contract/fault.ts';
import type { JobOptions } from '../contract/submit-options.ts';
import type { FetchPage, PageRequest } from '../fetch/page.ts';
import { limitsOf } from '../markets/lookup.ts';
import type { Batch, KeptPage, KeptPageLocation, KeptPages } from '../store/batches.ts';
import type { Job } from '../store/documents.ts';
import type { JobContext, UnitSession } from './context.ts';
import { readBatch, streamOf } from './records.ts';
import { readPage, warcInfo, writePage } from './warc.ts';

/** Returns the option `keep_pages` of a job in milliseconds, or null if there is none. */
export function keepPagesMs({ keepPages }: JobOptions): number | null {
  return keepPages === undefined ? null : parseDuration(keepPages);
}

/** Returns true while the kept pages of a job can be read. */
function hasPages({ pagesUntil, filesDeletedAt }: Job, now: number): boolean {
  return pagesUntil !== null && pagesUntil > now && filesDeletedAt === null;
}

/** Throws `conflict` for a job without kept pages, with the reason. */
export function requirePages(job: Job, now: number): void {
  const { rereadOf, counts, finishedAt } = job;
  if (hasPages(job, now) && (finishedAt === null || counts?.pages?.kept !== 0)) return;
  let reason = 'Submit with the option keep_pages to keep them.';
  if (rereadOf !== null) reason = `It rereads those of the job ${rereadOf}.`;
  else if (counts?.pages?.kept === 0) reason = 'None was read, or none was within the limits.';
  else if (counts?.pages !== undefined) reason = 'They were deleted.';
  throw new Fault('conflict', `The job has no kept pages. ${reason}`);
}

/**
 * Yields the files with a job's kept pages so far: together one WARC file. Throws `conflict` if
 * there are none.
 */
export async function* pagesOf(
  { store, blobs, clock }: JobContext,
  job: Job,
): AsyncGenerator<Uint8Array> {
  requirePages(job, clock.now());
  for await (const { pages } of store.batches.read(job.id))
    for (const { path, bytes } of pages?.files ?? [])
      if (bytes > 0) yield* (await blobs.read(path)) as AsyncIterable<Uint8Array>;
}

/**
 * Returns the path of a file with kept pages, unique per attempt and write:
 * `<job>/pages_1_<batch>_<attempt>_1.warc.gz`.
 */
function pageFilePath({ jobId, seq, id, attempt }: Batch, write: number): string {
  return `${jobId}/pages_${seq + 1}_${id}_${attempt}_${write}.warc.gz`;
}

/** Returns true for the path of a file with kept pages. */
export const isPageFile = (path: string) => /^[^/]+\/pages_[^/]+\.warc\.gz$/.test(path);

/** Returns the digest of a request without its headers, which identifies a kept page. */
function requestDigest({ method = 'GET', origin = '', path, body = '' }: PageRequest): string {
  return sha256(JSON.stringify([method, origin, path, body])).slice(0, 16);
}

/** Maximum compressed bytes of the pages of one unit, which are in memory until it ends. */
const maxUnitBytes = 16 * 1024 ** 2;
/** Maximum compressed bytes of the pages of one batch. */
const maxBatchBytes = 64 * 1024 ** 2;

/** A page to keep, with its WARC records. */
interface CapturedPage extends Omit<KeptPage, 'file' | 'offset' | 'length'> {
  records: Buffer;
}

/** Pages of one attempt at a unit. */
export interface UnitPages {
  pages: CapturedPage[];
  /** Compressed bytes of the pages. */
  bytes: number;
  /** Pages that exceed the limit of a unit, or cannot be kept. */
  missed: number;
}

/** Wraps the fetch of one attempt at a unit. The result collects the responses. */
export function capturePages(fetch: FetchPage): { fetch: FetchPage; captured: UnitPages } {
  const captured: UnitPages = { pages: [], bytes: 0, missed: 0 };
  return {
    captured,
    async fetch(request) {
      const response = await fetch(request);
      // Compressed before the reader gets the page, whose memory is released when it requests the
      // next one. The unit does not depend on it.
      const records = await writePage(request, response).catch(() => null);
      if (records === null || captured.bytes + records.length > maxUnitBytes) captured.missed += 1;
      else {
        const { url, at, status, body } = response;
        captured.bytes += records.length;
        captured.pages.push({
          request: requestDigest(request),
          url,
          at,
          status,
          sha256: sha256(body),
          records,
        });
      }
      return response;
    },
  };
}

/** Writer of the kept pages of one attempt at a batch. */
export interface PageKeeper {
  /** Adds the pages of a unit to the next write. */
  add(index: number, captured: UnitPages): void;
  /** Compressed bytes that are not written yet. */
  readonly pendingBytes: number;
  /**
   * Writes the pages of the units to a file of their own, except those that the job has kept
   * before. Returns the batch's kept pages with them, to be stored with the units' outcomes, or
   * null if there is nothing to store.
   */
  write(indexes: readonly number[]): Promise<KeptPages | null>;
  /**
   * Releases the memory of the last write(), which was stored, and lets other batches find its
   * pages.
   */
  commit(): Promise<void>;
  /** Returns the file of the last write(), which was not stored. */
  uncommitted(): string[];
  /** Releases all memory. */
  release(): void;
}

/** Returns true if the pages of a job are kept. */
export const keepsPages = ({ options, rereadOf }: Job) =>
  rereadOf === null && keepPagesMs(options) !== null;

/**
 * Creates the writer. Pages that exceed the limit of a batch, or the quota of the user, are counted
 * as missed. A job keeps each page once. The location of a page is stored after the batch that
 * refers to it, so that every stored location is valid. Batches that read the same page at the same
 * moment, or after a crash between the two writes, keep a copy each.
 */
export function createPageKeeper(context: JobContext, { userId }: Job, batch: Batch): PageKeeper {
  const { store, settings, sharedCounts } = context;
  const memory = context.pages.records;
  const pending = new Map<number, UnitPages>();
  let current: KeptPages = batch.pages ?? {
    files: [],
    bytes: 0,
    units: {},
    kept: 0,
    missed: 0,
  };
  let written: WrittenPages | null = null;
  let writes = 0;
  let pendingBytes = 0;
  const drop = (indexes: Iterable<number>) => {
    for (const index of indexes) {
      const { bytes } = pending.get(index)!;
      pending.delete(index);
      pendingBytes -= bytes;
      memory.remove(bytes);
    }
  };
  return {
    add(index, captured) {
      pending.set(index, captured);
      pendingBytes += captured.bytes;
      memory.add(captured.bytes);
    },
    get pendingBytes() {
      return pendingBytes;
    },
    async write(indexes) {
      const units = new Map([...pending].filter(([index]) => indexes.includes(index)));
      if (units.size === 0) return null;
      const free = settings.keptPageBytes - (await sharedCounts.keptPageBytes(userId));
      const left = Math.min(free, maxBatchBytes - current.bytes);
      writes += 1;
      const path = pageFilePath(batch, writes);
      written = await writeFile(context, batch, path, current, units, left);
      return written.pages;
    },
    async commit() {
      if (written === null) return;
      const { units, places, pages } = written;
      sharedCounts.addKeptPages(userId, pages.bytes - current.bytes);
      current = pages;
      written = null;
      drop(units);
      // The pages are stored: without their places, other batches keep them again.
      if (places.length > 0) await store.pagePlaces.writeAll(places).catch(() => {});
    },
    uncommitted: () => (written?.places ?? []).slice(0, 1).map(({ path }) => path),
    release: () => drop([...pending.keys()]),
  };
}

/** Returns the id of a page's location: equal for equal responses to the same request. */
export const placeId = (
  jobId: string,
  { request, status, sha256: digest }: Omit<CapturedPage, 'records'>,
) => `${jobId}/${sha256(`${request} ${status} ${digest}`).slice(0, 32)}`;

/** Pages that were written, and are not stored yet. */
interface WrittenPages {
  units: number[];
  /** Locations of the pages in the new file. Empty if no file was written. */
  places: KeptPageLocation[];
  /** All kept pages of the batch, including the new ones of the units. */
  pages: KeptPages;
}

/** Returns the pages of units by the ids of their locations. Equal pages have one. */
function capturedById(jobId: string, units: Iterable<UnitPages>): Map<string, CapturedPage> {
  const captured = new Map<string, CapturedPage>();
  for (const { pages } of units) {
    for (const page of pages) captured.set(placeId(jobId, page), page);
  }
  return captured;
}

/** Writes the next file of a batch with the kept pages `current`, of up to `left` bytes. */
async function writeFile(
  { store, blobs, clock, settings }: JobContext,
  { jobId }: Batch,
  path: string,
  current: KeptPages,
  units: ReadonlyMap<number, UnitPages>,
  left: number,
): Promise<WrittenPages> {
  const captured = capturedById(jobId, units.values());
  const ids = [...captured.keys()];
  const storedPlaces = await store.pagePlaces.find({ id: { in: ids } }, { order: [] });
  const placesById = new Map(storedPlaces.map((pagePlace) => [pagePlace.id, pagePlace]));
  const parts = [await warcInfo(settings.version, clock.now())];
  const places: KeptPageLocation[] = [];
  let bytes = parts[0]!.length;
  for (const [id, { records }] of captured) {
    if (placesById.has(id) || bytes + records.length > left) continue;
    const pagePlace = {
      id,
      path,
      offset: bytes,
      length: records.length,
    };
    placesById.set(id, pagePlace);
    places.push(pagePlace);
    parts.push(records);
    bytes += records.length;
  }
  const isKept = places.length > 0;
  if (isKept) await blobs.write(path, 'application/warc', streamOf(parts), () => places.length);
  const files = isKept ? [...current.files, { path, bytes }] : [...current.files];
  const fileAt = (filePath: string) => {
    const at = files.findIndex((file) => file.path === filePath);
    return at >= 0 ? at : files.push({ path: filePath, bytes: 0 }) - 1;
  };
  const pages = {
    ...current,
    files,
    units: { ...current.units },
    kept: current.kept + places.length,
  };
  if (isKept) pages.bytes += bytes;
  for (const [index, unit] of units) {
    const unitPages: KeptPage[] = [];
    for (const { records: _, ...page } of unit.pages) {
      const pagePlace = placesById.get(placeId(jobId, page));
      if (pagePlace === undefined) continue;
      const { offset, length } = pagePlace;
      unitPages.push({
        ...page,
        file: fileAt(pagePlace.path),
        offset,
        length,
      });
    }
    pages.units[index] = unitPages;
    pages.missed += unit.missed + unit.pages.length - unitPages.length;
  }
  return { units: [...units.keys()], places, pages };
}

/**
 * Returns the pages that the units of a batch were read from, by the index of the unit. They remain
 * when the pages were deleted. Empty if the job kept none, or was reread from a job that was
 * deleted.
 */
export async function keptUnitsOf(
  { store }: JobContext,
  { rereadOf }: Job,
  batch: Batch,
): Promise<KeptPages['units']> {
  if (rereadOf === null) return batch.pages?.units ?? {};
  return (await readBatch(store, rereadOf, batch.seq))?.pages?.units ?? {};
}

const pageNotKept = ({ path }: PageRequest): Fault =>
  new Fault('page_not_kept', `The page ${path} was not kept, or was deleted.`);

/** Batches of the first job by the batches that read their pages again. */
const sources = new WeakMap<Batch, Promise<Batch | null>>();

/** Returns the batch whose pages a batch reads again, or null if they were deleted. */
function sourceOf(context: JobContext, rereadOf: string, batch: Batch): Promise<Batch | null> {
  const { store, clock } = context;
  const load = async () => {
    const job = await store.jobs.get(rereadOf);
    if (job === null || !hasPages(job, clock.now())) return null;
    // A job and its reread have the same batches.
    return readBatch(store, rereadOf, batch.seq);
  };
  const source = sources.get(batch) ?? load();
  sources.set(batch, source);
  source.catch(() => sources.delete(batch));
  return source;
}

/**
 * Opens a session that reads a unit from the pages that another job kept of it, without requests to
 * the site. Fetching another page is the fault `page_not_kept`.
 */
export async function openKeptSession(
  context: JobContext,
  job: Job,
  batch: Batch,
  index: number,
): Promise<UnitSession & { readAt: number }> {
  const source = await sourceOf(context, job.rereadOf ?? '', batch);
  const { pageBytes } = limitsOf(context.jobTypes.of(job).market);
  const isSame = JSON.stringify(source?.units[index]) === JSON.stringify(batch.units[index]);
  const pages = (isSame && source?.pages?.units[index]) || [];
  return {
    async fetch(request) {
      const digest = requestDigest(request);
      const page = pages.findLast((each) => each.request === digest);
      const path = page && source?.pages?.files[page.file]?.path;
      if (!page || !path) throw pageNotKept(request);
      const { offset, length, url, at } = page;
      const range = { start: offset, end: offset + length - 1 };
      const stored = await context.blobs.read(path, range).catch((error) => {
        throw Fault.from(error).code === 'not_found' ? pageNotKept(request) : error;
      });
      const records = Buffer.concat(await Array.fromAsync(stored));
      const response = await readPage(records, pageBytes);
      // Another unit may have got the same page at another time.
      return { ...response, url, at };
    },
    end: async () => {},
    readAt: pages[0]?.at ?? context.clock.now(),
  };
}
