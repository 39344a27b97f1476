import type { JsonObject } from '../../base/json.ts';
import { Fault, type FaultCode } from '../../contract/fault.ts';
import { limitsOf } from '../../markets/lookup.ts';
import type {
  ListPage,
  ListReader,
  ListSummary,
  Market,
  ReadContext,
} from '../../markets/market.ts';
import { createQualityCounter } from '../../quality/data-quality.ts';
import type { DriftObserver } from '../../quality/drift-watcher.ts';
import type { Outcome } from '../../store/batches.ts';
import type { QualityCounts, StoredFile } from '../../store/documents.ts';
import type { JobContext } from '../context.ts';
import { recordFieldsOf } from '../queries/rows.ts';
import { findRecent, type StoredResult } from '../reuse.ts';
import { requireTestSpace } from '../sandbox.ts';
import type { UnitTarget } from './unit-result.ts';

/**
 * Stored reference to a recent listing file, for later jobs. The file belongs to the job that read
 * the listing.
 */
interface RecentFile {
  file: StoredFile;
  quality: QualityCounts;
  hasMore?: true;
}

/**
 * Reads the listing of a unit at `startedAt` into the unit's file, or copies the file of a recent
 * job if the unit's job accepts one. Rejects as the reader and the storage do.
 */
export async function readListing(
  context: JobContext,
  target: UnitTarget,
  reader: ListReader,
  readContext: ReadContext & { startedAt: number; readAt: () => number },
  observer: DriftObserver,
): Promise<Outcome> {
  const { store, jobTypes } = context;
  const { job, batch, index } = target;
  await requireTestSpace(store, job);
  const { attempt } = batch;
  const jobType = jobTypes.of(job);
  const unit = batch.units[index]!;
  const recent = await findRecent(context, job, batch, unit);
  const reused = recent.stored && (await reuseFile(context, target, recent.stored));
  if (reused)
    return {
      status: 'SUCCESS',
      attempt,
      readAt: reused.collectedAt,
      ...reused,
    };
  const counter = createQualityCounter(recordFieldsOf(jobType));
  const listing = reader.read(unit.input, readContext);
  const pages = limitRecords(listing, jobType.market, (entries) => {
    observer.page(entries);
    for (const entry of entries) counter.add(entry);
  });
  const { startedAt } = readContext;
  let hasMore = false;
  async function* summarized() {
    const summary = yield* pages;
    hasMore = summary.has_more;
    return summary;
  }
  const file = await writeUnitFile(context, target, startedAt, summarized());
  // A listing is as old as its oldest page.
  const readAt = Math.min(startedAt, readContext.readAt());
  const result: RecentFile = { file, quality: counter.counts() };
  if (hasMore) result.hasMore = true;
  await recent.keep(readAt, Buffer.from(JSON.stringify(result)));
  return { status: 'SUCCESS', attempt, readAt, ...result };
}

/** Copies the file of a recent job if it still exists; otherwise returns null. */
async function reuseFile(
  context: JobContext,
  target: UnitTarget,
  stored: StoredResult,
): Promise<(RecentFile & { collectedAt: number }) | null> {
  const recent = JSON.parse(Buffer.from(stored.body).toString()) as RecentFile;
  const { file: source } = recent;
  // Deleted files are never read, even if they are still in the storage.
  const owner = await context.store.jobs.get(source.path.split('/')[0]!);
  if (owner === null || owner.filesDeletedAt !== null) return null;
  const file = await copyUnitFile(context, target, stored.at, source);
  return file && { ...recent, file, collectedAt: stored.at };
}

/** Codes of faults that say that a listing does not exist, or not for this visitor. */
const absentCodes: ReadonlySet<FaultCode> = new Set([
  'page_not_found',
  'page_private',
  'page_region',
]);

/** Returns the fault of a later page of a listing. Its first page has shown that it exists. */
function laterPageFault(thrown: unknown): unknown {
  if (!(thrown instanceof Fault) || !absentCodes.has(thrown.code)) return thrown;
  return new Fault('page_failed', `a later page of the listing: ${thrown.message}`, {
    cause: thrown,
  });
}

/**
 * Yields the pages of a listing, each after `look` has seen its entries. Throws `page_too_large`
 * when they contain more records than the market allows, and `page_failed` if a page after the
 * first one does not exist.
 */
export async function* limitRecords(
  pages: AsyncGenerator<ListPage, ListSummary, void>,
  market: Market,
  look: (entries: JsonObject[]) => void = () => {},
): AsyncGenerator<ListPage, ListSummary, void> {
  const { unitRecords } = limitsOf(market);
  let records = 0;
  try {
    let next = await pages.next();
    for (; !next.done; next = await pages.next()) {
      records += next.value.entries.length;
      if (records > unitRecords) {
        const limit = `${unitRecords} records, the limit of ${market.name}`;
        throw new Fault('page_too_large', `the listing contains more than ${limit}`);
      }
      look(next.value.entries);
      yield next.value;
      // Frees the entries, because readers and consumers may refer to the page while the next one
      // is fetched.
      next.value.entries.length = 0;
    }
    return next.value;
  } catch (error) {
    throw records > 0 ? laterPageFault(error) : error;
  } finally {
    // Closes the reader when the consumer stops early.
    await pages.return({ has_more: true });
  }
}

/** Thrown while a file is copied whose source cannot be read. */
class LostSourceError extends Error {}

/**
 * Writes the result file of one listing, read at `at`, while its pages arrive, so that memory is
 * bounded by one page. A listing that fails leaves no file.
 */
async function writeUnitFile(
  context: JobContext,
  target: UnitTarget,
  at: number,
  pages: AsyncGenerator<ListPage, ListSummary, void>,
): Promise<StoredFile> {
  const { pack, unit, filePlace, write } = fileOf(context, target, at);
  let entries = 0;
  async function* chunks() {
    yield pack.head(unit, filePlace);
    entries = yield* pack.body(pages, unit, filePlace);
  }
  return write(chunks(), () => entries);
}

/**
 * Writes the result file of a listing as a copy of another job's file, read at `at`, with a first
 * line of its own. Returns null, and leaves no file, if the source was deleted or changed. Throws
 * `unavailable`.
 */
async function copyUnitFile(
  context: JobContext,
  target: UnitTarget,
  at: number,
  source: StoredFile,
): Promise<StoredFile | null> {
  const { pack, unit, filePlace, write } = fileOf(context, target, at);
  async function* chunks() {
    yield pack.head(unit, filePlace);
    yield* bodyOf(context, source);
  }
  try {
    return await write(chunks(), () => source.items);
  } catch (error) {
    if (error instanceof LostSourceError) return null;
    throw error;
  }
}

/** Returns the file to write: its format, its place, and the function that writes it. */
function fileOf({ blobs, jobTypes }: JobContext, { job, batch, index }: UnitTarget, at: number) {
  const { kind, result } = jobTypes.of(job);
  const pack = kind.files.unit;
  if (!pack) throw new Error(`${job.kind} has no unit file`);
  return {
    pack,
    unit: batch.units[index]!,
    filePlace: {
      job,
      batch,
      collectedAt: Math.floor(at / 1000),
      result,
    },
    write: (chunks: AsyncIterable<string | Uint8Array>, items: () => number) =>
      blobs.write(`${job.id}/${pack.name(job, batch)}`, pack.contentType, chunks, items),
  };
}

const lineBreak = 0x0a;

/** Yields the bytes of a file from its first line break on. */
async function* bodyOf(
  { blobs }: JobContext,
  { path, bytes }: StoredFile,
): AsyncGenerator<Uint8Array> {
  let read = 0;
  let isBody = false;
  try {
    for await (const chunk of (await blobs.read(path)) as AsyncIterable<Uint8Array>) {
      read += chunk.length;
      const start = isBody ? 0 : chunk.indexOf(lineBreak);
      if (start < 0) continue;
      isBody = true;
      yield start === 0 ? chunk : chunk.subarray(start);
    }
  } catch (error) {
    if (Fault.from(error).isOutage) throw error;
    throw new LostSourceError(path, { cause: error });
  }
  if (read !== bytes) throw new LostSourceError(`${path} has ${read} bytes instead of ${bytes}`);
}
