import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { createManualClock, type ManualClock } from '../../test/support/time/clock.ts';
import { aJob, aSuccess, someBatches } from '../store/conformance/samples.ts';
import { openSqliteStore } from '../store/sqlite/open.ts';
import type { Store } from '../store/store.ts';
import { replaceMethods } from '../store/wrap.ts';
import { createSharedCounts, type SharedCounts } from './shared-counts.ts';

let clock: ManualClock;
let store: Store;
/** Sums that were read from the store. */
let readings: string[];
let counts: SharedCounts;
beforeEach(() => {
  clock = createManualClock(1_000_000);
  store = openSqliteStore({ path: ':memory:' });
  readings = [];
  const counted = replaceMethods(store, {
    batches: {
      countBacklog: (now) => {
        readings.push('backlog');
        return store.batches.countBacklog(now);
      },
    },
    jobs: {
      sumBytes: (userId, of) => {
        readings.push(userId);
        return store.jobs.sumBytes(userId, of);
      },
    },
  });
  counts = createSharedCounts(counted, clock);
});
afterEach(() => store.close());

/** Stores a batch with kept pages of a size. */
async function storePages(userId: string, bytes: number): Promise<void> {
  const job = aJob({ userId, totalBatches: 1, totalUnits: 2, state: 'processing', pagesUntil: 9 });
  const [batch] = someBatches(job, 1);
  await store.jobs.create(job, [batch!]);
  await store.batches.claim(batch!, 0, clock.steady(), clock.steady() + 60_000);
  const pages = { files: [{ path: 'p', bytes }], bytes, units: {}, kept: 1, missed: 0 };
  await store.batches.recordOutcomes(batch!, 1, { outcomes: { 0: aSuccess() }, pages });
}

describe('createSharedCounts()', () => {
  test('reads the backlog once for calls within 5 s', async () => {
    expect(await Promise.all([counts.backlog(), counts.backlog()])).toEqual([[], []]);
    await storePages('one', 1);
    expect(await counts.backlog()).toEqual([]);
    await clock.advance(5_000);
    expect(await counts.backlog()).toMatchObject([{ claimed: 1 }]);
    expect(readings).toEqual(['backlog', 'backlog']);
  });

  test('adds the pages of this process to those of the last reading', async () => {
    await storePages('one', 100);
    expect(await counts.keptPageBytes('one')).toBe(100);
    await storePages('one', 20);
    counts.addKeptPages('one', 20);
    // Of another process.
    await storePages('one', 3);
    expect(await counts.keptPageBytes('one')).toBe(120);
    expect(await counts.keptPageBytes('two')).toBe(0);
    await clock.advance(5_000);
    expect(await counts.keptPageBytes('one')).toBe(123);
    expect(readings).toEqual(['one', 'two', 'one']);
  });
});
