import type { JsonObject } from '../../base/json.ts';
import { Fault, type Problem } from '../../contract/fault.ts';
import { seriesOf } from '../../contract/track.ts';
import { formatExact } from '../../formats/json-text.ts';
import { itemRegion } from '../../markets/lookup.ts';
import type { Job } from '../../store/documents.ts';
import { changeId } from '../../store/history-ids.ts';
import type { JobContext } from '../context.ts';
import { type Entry, hasRecord } from './rows.ts';

/**
 * Records of a job to return: all, or only the records of items that differ from the previous run.
 */
export type OnlyFilter = '' | 'changed';

/** Entries whose changes are read in one call. */
const chunkSize = 100;
/** Changes of items that the job found. */
const withRecord = { in: ['new', 'changed', 'back'] } as const;
/** Time after which a caller should ask again for a comparison that has not ended. */
const retryMs = 2_000;

/**
 * Requires the changes of a job to be complete. Throws `invalid` for a job that is not tracked;
 * `conflict` before the end of the comparison, and for a held or discarded job; `results_deleted`
 * if the changes were deleted.
 */
export async function requireCompared(
  context: JobContext,
  job: Job,
  loc: Problem['loc'] = ['body', 'only'],
): Promise<void> {
  const { finishedAt, hold, noticeDue, options, state } = job;
  if (seriesOf(options.track) === null) throw notTracked(loc);
  // A rejected job has neither records nor a comparison.
  if (state === 'rejected') return;
  if (hold?.state === 'held')
    throw new Fault('conflict', 'The job is held. It is compared when it is released.');
  if (hold?.state === 'discarded')
    throw new Fault('conflict', 'The results of the job were discarded. It is not compared.');
  const run = await context.store.trackingRuns.get(job.id);
  if (run?.isSkipped)
    throw new Fault(
      'results_deleted',
      'The changes of the job are incomplete: its comparison was skipped.',
    );
  if (run?.stage === 'done') return;
  // The end of the job is announced after its comparison was created.
  if (run === null && finishedAt !== null && noticeDue === null)
    throw new Fault('results_deleted', 'The changes of the job were deleted.');
  throw new Fault('conflict', 'The changes of the job are not complete yet. Try again later.', {
    retryAfterMs: retryMs,
  });
}

/** Returns the fault of `only=changed` for a job that is not tracked. */
export function notTracked(loc: Problem['loc']): Fault {
  return Fault.invalid(loc, 'Only a tracked job has changes: submit it with track', 'value_error');
}

/**
 * Yields the entries of items that are new, changed, or back again, in submission order: for each
 * item, the entry that was compared. Skips entries that do not identify an item.
 */
export async function* changedEntries(
  { jobTypes, store }: JobContext,
  job: Job,
  entries: AsyncIterable<Entry>,
): AsyncGenerator<Entry> {
  const { market, kind } = jobTypes.of(job);
  const scope = { userId: job.userId, market: job.market };
  const readTracked = market.tracked?.[kind.page];
  if (!readTracked) return;
  /**
   * Ids of the batch's items. An item in several batches has one change, stored with the first of
   * them.
   */
  const seen = new Set<string>();
  let waiting = new Map<string, Entry>();
  let batch = -1;
  const takeChanged = async () => {
    const chunk = waiting;
    waiting = new Map();
    const ids = [...chunk.keys()];
    const changes = await store.itemChanges.find(
      { id: { in: ids }, type: withRecord },
      { order: [] },
    );
    const changedIds = new Set(changes.map(({ id }) => id));
    return ids.filter((id) => changedIds.has(id)).map((id) => chunk.get(id)!);
  };
  for await (const entry of entries) {
    if (!hasRecord(entry)) continue;
    if (entry.batch !== batch || waiting.size >= chunkSize) yield* await takeChanged();
    if (entry.batch !== batch) seen.clear();
    batch = entry.batch;
    // As it was compared: with the numbers of JSON.parse().
    const item = readTracked(JSON.parse(formatExact(entry.record)) as JsonObject);
    if (item === null || item.key === null) continue;
    const region = itemRegion(market, entry.unit.region, entry.unit.unit.key);
    const id = changeId(job.id, batch, { ...scope, region, key: item.key });
    if (seen.has(id)) continue;
    seen.add(id);
    waiting.set(id, entry);
  }
  yield* await takeChanged();
}
