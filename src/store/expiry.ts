import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Collection } from './collection.ts';
import { declarations } from './collections.ts';
import { idsOfJob } from './history.ts';
import type { Store } from './store.ts';

/**
 * Limits of expire(). Times are milliseconds since the epoch: records from before are deleted.
 * Records of a kind without a limit are kept.
 */
export interface Cutoffs {
  /** Crawled pages, by the time of the crawl. */
  crawls?: number;
  /**
   * Maximum number of crawled pages kept, newest first. Pages crawled in the same millisecond are
   * kept or deleted together.
   */
  maxCrawls?: number;
  /** Origins, by their latest reservation, permit, or pause. */
  origins?: number;
  /** Processes, by their latest heartbeat. */
  processes?: number;
  /** Request counts of origins, by the beginning of the minute. */
  originMinutes?: number;
  /** Deliveries, by their creation. */
  deliveries?: number;
  /** Sessions of browsers, by their expiry. */
  sessions?: number;
  /** Entries of the audit log, by the time of the action. */
  auditLog?: number;
  /** Runs of schedules, by their start. */
  scheduleRuns?: number;
  /** Observations, by the time at which another one followed. The latest one of an item is kept. */
  observations?: number;
  /** Runs with their changes of items, by the end of the comparison. */
  trackingRuns?: number;
}

/** Documents deleted per step, and most steps per collection and call. */
const chunkSize = 500;
const maxChunks = 200;

/**
 * Deletes records beyond each cutoff and returns their number: at least 1,000 of each kind, if as
 * many are left, and a bounded number. A call that fails may have deleted some of them.
 */
export async function expire(store: Store, cutoffs: Cutoffs): Promise<number> {
  const { origins, maxCrawls, trackingRuns, ...byTime } = cutoffs;
  const { crawls } = store;
  let deleted = 0;
  if (origins !== undefined)
    deleted += await inSteps((limit) => store.origins.expire(origins, limit));
  if (trackingRuns !== undefined) deleted += await expireRuns(store, trackingRuns);
  if (maxCrawls !== undefined) {
    const excess = await crawls.pick({}, ['at'], {
      order: ['at'],
      newestFirst: true,
      skip: maxCrawls,
    });
    if (excess !== null)
      deleted += await inSteps((limit) => crawls.remove({ at: { atMost: excess.at } }, limit));
  }
  for (const [name, before] of Object.entries(byTime) as [keyof typeof byTime, number][]) {
    const collection = store[name] as unknown as Collection<Record<string, unknown>>;
    const time = declarations[name].expiresBy!;
    deleted += await inSteps((limit) => collection.remove({ [time]: { below: before } }, limit));
  }
  return deleted;
}

async function inSteps(remove: (limit: number) => Promise<number>): Promise<number> {
  let deleted = 0;
  for (let chunk = 0; chunk < maxChunks; chunk++) {
    const removed = await remove(chunkSize);
    deleted += removed;
    if (removed < chunkSize) break;
    await nextTurn();
  }
  return deleted;
}

/** Deletes runs that ended before, each after its changes, which are found by it. */
async function expireRuns(
  { trackingRuns, itemChanges }: Pick<Store, 'trackingRuns' | 'itemChanges'>,
  before: number,
): Promise<number> {
  let deleted = 0;
  for (const { jobId } of await trackingRuns.find(
    { doneAt: { below: before } },
    { order: ['doneAt'], limit: chunkSize },
  )) {
    deleted += await inSteps((limit) => itemChanges.remove(idsOfJob(jobId), limit));
    deleted += await trackingRuns.remove({ jobId }, 1);
  }
  return deleted;
}
