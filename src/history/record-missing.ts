import type { JobContext } from '../jobs/context.ts';
import type { Batch } from '../store/batches.ts';
import { findAbsentItems, type ItemChange, type TrackedItem, type TrackingRun } from '../store/history.ts';
import { changeId, sourceOf } from '../store/history-ids.ts';

/** Items per query. */
const pageSize = 200;

/** Faults of units whose item is gone from the site. After any other fault nothing is known about it. */
const goneCodes: ReadonlySet<string> = new Set(['page_not_found', 'page_private']);

/**
 * Records the items that earlier runs of the series found through units of this batch, and that this run did
 * not find. Units that failed for another reason than a missing page are left out. Idempotent: a recorded
 * item is not present any more.
 */
export async function recordMissing(
  { store }: Pick<JobContext, 'store'>,
  run: TrackingRun,
  batch: Batch,
): Promise<void> {
  const sources = batch.units
    .filter((_, index) => isRead(batch.outcomes[index]))
    .map(({ key }) => sourceOf(batch.market, batch.region, key));
  for (;;) {
    const absent = await findAbsentItems(store, run, sources, pageSize);
    if (absent.length === 0) return;
    await store.itemChanges.writeAll(absent.map((item) => missingChange(run, batch, item)));
    await store.trackedItems.upsert(
      absent.map((item) => ({ ...item, isPresent: false, seenAt: run.at, seenJob: run.jobId })),
    );
    if (absent.length < pageSize) return;
  }
}

function isRead(outcome: Batch['outcomes'][number] | undefined): boolean {
  return outcome?.status === 'SUCCESS' || (outcome !== undefined && goneCodes.has(outcome.code));
}

function missingChange(run: TrackingRun, { seq }: Batch, item: TrackedItem): ItemChange {
  const { userId, market, region, key, values } = item;
  return {
    id: changeId(run.jobId, seq, item),
    ...{ userId, market, region, key },
    jobId: run.jobId,
    type: 'missing',
    at: run.at,
    title: values.title,
    before: {},
    after: {},
  };
}
