import { parseDuration } from '../base/duration.ts';
import { sha256 } from '../base/id.ts';
import { Fault } from '../contract/fault.ts';
import type { JobOptions } from '../contract/submit-options.ts';
import type { PageRequest } from '../fetch/page.ts';
import { limitsOf } from '../markets/defaults.ts';
import type { Batch, KeptPages } from '../store/batches.ts';
import type { Job } from '../store/documents.ts';
import type { JobContext, UnitSession } from './context.ts';
import { readBatch } from './records.ts';
import { readPage } from './warc.ts';

/** Returns the option `keep_pages` of a job in milliseconds, or null if there is none. */
export function keepPagesMs({ keepPages }: JobOptions): number | null {
  return parseDuration(keepPages ?? '');
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
 * Yields the files with a job's kept pages so far: together one WARC file. Throws `conflict` if there are
 * none.
 */
export async function* pagesOf({ store, blobs, clock }: JobContext, job: Job): AsyncGenerator<Uint8Array> {
  requirePages(job, clock.now());
  for await (const { pages } of store.batches.read(job.id))
    for (const { path, bytes } of pages?.files ?? [])
      if (bytes > 0) yield* (await blobs.read(path)) as AsyncIterable<Uint8Array>;
}

/**
 * Returns the path of a file with kept pages, unique per attempt and write:
 * `<job>/pages_1_<batch>_<attempt>_1.warc.gz`.
 */
export function pageFilePath({ jobId, seq, id, attempt }: Batch, write: number): string {
  return `${jobId}/pages_${seq + 1}_${id}_${attempt}_${write}.warc.gz`;
}

/** Returns true for the path of a file with kept pages. */
export const isPageFile = (path: string) => /^[^/]+\/pages_[^/]+\.warc\.gz$/.test(path);

/** Returns the digest by which a kept page is found: of the request without its headers. */
export function requestDigest({ method = 'GET', origin = '', path, body = '' }: PageRequest): string {
  return sha256(JSON.stringify([method, origin, path, body])).slice(0, 16);
}

/**
 * Returns the pages that the units of a batch were read from, by the index of the unit. They remain when the
 * pages were deleted. Empty if the job kept none, or was reread from a job that was deleted.
 */
export async function keptUnitsOf(
  { store }: JobContext,
  { rereadOf }: Job,
  batch: Batch,
): Promise<KeptPages['units']> {
  if (rereadOf === null) return batch.pages?.units ?? {};
  return (await readBatch(store, rereadOf, batch.seq))?.pages?.units ?? {};
}

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
  const known = sources.get(batch) ?? load();
  sources.set(batch, known);
  known.catch(() => sources.delete(batch));
  return known;
}

/** A session that reads a unit from its kept pages. */
export interface KeptSession extends UnitSession {
  /** Time at which the pages were read. */
  readAt: number;
}

/**
 * Opens a session that reads a unit from the pages that another job kept of it, without requests to the site.
 * Fetching another page is the fault `page_not_kept`.
 */
export async function openKeptSession(
  context: JobContext,
  job: Job,
  batch: Batch,
  index: number,
): Promise<KeptSession> {
  const source = await sourceOf(context, job.rereadOf ?? '', batch);
  const { pageBytes } = limitsOf(context.jobTypes.of(job).market);
  const isSame = JSON.stringify(source?.units[index]) === JSON.stringify(batch.units[index]);
  const pages = (isSame && source?.pages?.units[index]) || [];
  return {
    async fetch(request) {
      const digest = requestDigest(request);
      const page = pages.findLast((each) => each.request === digest);
      const missing = new Fault('page_not_kept', `The page ${request.path} was not kept, or was deleted.`);
      const path = page && source?.pages?.files[page.file]?.path;
      if (!page || !path) throw missing;
      const { offset, length, url, at } = page;
      const range = { start: offset, end: offset + length - 1 };
      const stored = await context.blobs.read(path, range).catch((error) => {
        throw Fault.from(error).code === 'not_found' ? missing : error;
      });
      const response = await readPage(Buffer.concat(await Array.fromAsync(stored)), pageBytes);
      // The file can be that of a unit that got the same page at another time.
      return { ...response, url, at };
    },
    end: async () => {},
    readAt: pages[0]?.at ?? context.clock.now(),
  };
}
