import type { JsonObject } from '../../base/json.ts';
import { Fault } from '../../contract/fault.ts';
import { limitsOf } from '../../markets/defaults.ts';
import type { ListPage, ListReader, ListSummary, Market, ReadContext } from '../../markets/market.ts';
import type { Batch, Outcome } from '../../store/batches.ts';
import type { Job, QualityCounts, StoredFile } from '../../store/documents.ts';
import type { JobContext } from '../context.ts';
import { createQualityCounter, type QualityCounter } from '../quality/quality-counter.ts';
import { recordFieldsOf } from '../queries/rows.ts';
import { recentOf } from '../reuse.ts';
import { requireTestSpace } from '../sandbox.ts';
import { copyUnitFile, type UnitFileTarget, writeUnitFile } from './unit-file.ts';

/** Reports the pages of one unit to the drift watch. */
export interface DriftObserver {
  record(record: JsonObject): void;
  /** Yields the pages of a listing and reports each. */
  pages(pages: AsyncGenerator<ListPage, ListSummary, void>): AsyncGenerator<ListPage, ListSummary, void>;
  fault(fault: Fault): void;
}

/** Observer of the pages of the sandbox, and of kept pages, which were observed when they were read. */
const ignoring: DriftObserver = { record: () => {}, pages: (pages) => pages, fault: () => {} };

/** Creates an observer of one unit's pages. */
export function createDriftObserver(
  { drift, jobTypes }: JobContext,
  job: Job,
  batch: Batch,
  index: number,
): DriftObserver {
  if (job.mode === 'test' || job.rereadOf !== null) return ignoring;
  const { market, region } = batch;
  const { kind, market: own } = jobTypes.of(job);
  // Regions that are sites differ in what their pages state.
  const page = own.regionPolicy === undefined ? kind.page : `${kind.page}/${region}`;
  const unit = { region, input: batch.units[index]!.input };
  return {
    record: (record) => drift.look(market, page, [record], unit),
    async *pages(pages) {
      try {
        let next = await pages.next();
        for (; !next.done; next = await pages.next()) {
          drift.look(market, page, next.value.entries, unit);
          yield next.value;
        }
        return next.value;
      } finally {
        // Closes the reader when the consumer stops early.
        await pages.return({});
      }
    },
    fault: ({ code }) => {
      if (code === 'page_unreadable' || code === 'page_empty') drift.watchUnreadable(market, page, unit);
    },
  };
}

/**
 * Recent file of a listing, as it is stored for later jobs. The file belongs to the job that read the
 * listing.
 */
interface RecentFile {
  file: StoredFile;
  quality: QualityCounts;
}

/**
 * Reads the listing of a unit at `readAt` into the unit's file, or copies the file of a recent job if the
 * unit's job accepts one. Rejects as the reader and the storage do.
 */
export async function readListing(
  context: JobContext,
  target: UnitFileTarget,
  reader: ListReader,
  reading: ReadContext & { readAt: number },
  observer: DriftObserver,
): Promise<Outcome> {
  const { store, clock, jobTypes } = context;
  const { job, batch, index } = target;
  await requireTestSpace(store, job);
  const { attempt } = batch;
  const jobType = jobTypes.of(job);
  const now = clock.now();
  const unit = batch.units[index]!;
  const { key, maxAgeMs } = recentOf(context, jobType, job, batch, unit);
  if (key !== null && maxAgeMs !== null) {
    const reused = await reuseFile(context, target, key, now - maxAgeMs);
    if (reused) return { status: 'SUCCESS', attempt, readAt: reused.collectedAt, ...reused };
  }
  const counter = createQualityCounter(recordFieldsOf(jobType));
  const pages = observer.pages(limitRecords(reader.read(unit.input, reading), jobType.market));
  const { readAt } = reading;
  const file = await writeUnitFile(context, target, readAt, countEntries(pages, counter));
  const result: RecentFile = { file, quality: counter.counts() };
  if (key !== null)
    await store.crawls.upsert([{ key, at: readAt, body: Buffer.from(JSON.stringify(result)) }]);
  return { status: 'SUCCESS', attempt, readAt, ...result };
}

/**
 * Copies the file stored under a key if it was read at `since` or later and still exists; otherwise returns
 * null.
 */
async function reuseFile(
  context: JobContext,
  target: UnitFileTarget,
  key: string,
  since: number,
): Promise<(RecentFile & { collectedAt: number }) | null> {
  const kept = await context.store.crawls.pick({ key, at: { atLeast: since } }, ['at', 'body']);
  if (kept === null) return null;
  const { file: source, quality } = JSON.parse(Buffer.from(kept.body).toString()) as RecentFile;
  // Deleted files are never read, also while they are still in the storage.
  const owner = await context.store.jobs.get(source.path.split('/')[0]!);
  if (owner === null || owner.filesDeletedAt !== null) return null;
  const file = await copyUnitFile(context, target, kept.at, source);
  return file && { file, quality, collectedAt: kept.at };
}

/** Yields the pages of a listing and counts their entries. */
async function* countEntries(
  pages: AsyncGenerator<ListPage, ListSummary, void>,
  counter: QualityCounter,
): AsyncGenerator<ListPage, ListSummary, void> {
  try {
    let next = await pages.next();
    for (; !next.done; next = await pages.next()) {
      for (const entry of next.value.entries) counter.add(entry);
      yield next.value;
    }
    return next.value;
  } finally {
    // Closes the reader when the consumer stops early.
    await pages.return({});
  }
}

/**
 * Yields the pages of a listing. Throws `page_too_large` when they contain more records than the market
 * allows.
 */
export async function* limitRecords(
  pages: AsyncGenerator<ListPage, ListSummary, void>,
  market: Market,
): AsyncGenerator<ListPage, ListSummary, void> {
  const { unitRecords } = limitsOf(market);
  let records = 0;
  try {
    let next = await pages.next();
    for (; !next.done; next = await pages.next()) {
      records += next.value.entries.length;
      if (records > unitRecords) {
        const message = `the listing contains more than ${unitRecords} records, the limit of ${market.name}`;
        throw new Fault('page_too_large', message);
      }
      yield next.value;
      // Frees the entries: readers and consumers may still refer to the page while the next one is fetched.
      next.value.entries.length = 0;
    }
    return next.value;
  } finally {
    await pages.return({});
  }
}
