import type { ListPage, ListReader, ListSummary, ReadContext } from '../../markets/market.ts';
import { createQualityCounter, type QualityCounter } from '../../quality/tally.ts';
import type { Outcome, QualityTally, StoredFile } from '../../store/documents.ts';
import type { JobContext, StoreUse } from '../context.ts';
import { recordFieldsOf } from '../queries/rows.ts';
import { recentOf } from '../reuse.ts';
import { requireTestSpace } from '../sandbox.ts';
import type { DriftObserver } from './drift-observer.ts';
import { limitRecords } from './limit-records.ts';
import { copyUnitFile, type UnitFileContext, type UnitFileTarget, writeUnitFile } from './unit-file.ts';

/** Dependencies of this module. */
export type ReadListingContext = Pick<JobContext, 'clock' | 'settings'> &
  StoreUse<'findCrawl' | 'getJob' | 'putCrawl' | 'sumStoredBytes'> &
  UnitFileContext;

/** Recent file of a listing, as it is stored for later jobs. The file belongs to the job that read the listing. */
interface RecentFile {
  file: StoredFile;
  quality: QualityTally;
}

/**
 * Reads the listing of a unit into the unit's file, or copies the file of a recent job if the unit's job accepts one.
 * Rejects as the reader and the storage do.
 */
export async function readListing(
  context: ReadListingContext,
  target: UnitFileTarget,
  reader: ListReader,
  reading: ReadContext,
  observer: DriftObserver,
): Promise<Outcome> {
  const { store, clock, offers } = context;
  const { job, batch, index } = target;
  await requireTestSpace(store, job);
  const { attempt } = batch;
  const offer = offers.of(job);
  const now = clock.now();
  const unit = batch.units[index]!;
  const { key, maxAgeMs } = recentOf(context, offer, job, batch, unit);
  if (key !== null && maxAgeMs !== null) {
    const reused = await reuseFile(context, target, key, now - maxAgeMs);
    if (reused) return { status: 'SUCCESS', attempt, ...reused };
  }
  const counter = createQualityCounter(recordFieldsOf(offer));
  const pages = observer.pages(limitRecords(reader.read(unit.input, reading), offer.market));
  const file = await writeUnitFile(context, target, now, countEntries(pages, counter));
  const result: RecentFile = { file, quality: counter.tally() };
  if (key !== null) await store.putCrawl(key, now, Buffer.from(JSON.stringify(result)));
  return { status: 'SUCCESS', attempt, ...result };
}

/** Copies the file stored under a key if it was read at `since` or later and still exists; otherwise returns null. */
async function reuseFile(
  context: ReadListingContext,
  target: UnitFileTarget,
  key: string,
  since: number,
): Promise<(RecentFile & { collectedAt: number }) | null> {
  const kept = await context.store.findCrawl(key, since);
  if (kept === null) return null;
  const { file: source, quality } = JSON.parse(Buffer.from(kept.body).toString()) as RecentFile;
  // Deleted files are never read, also while they are still in the storage.
  const owner = await context.store.getJob(source.path.split('/')[0]!);
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
