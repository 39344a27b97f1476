import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { type JobFixture, openJobFixture } from '../../test/support/jobs/jobs.ts';
import { newId } from '../base/id.ts';
import { newBatch } from '../store/batch-store.ts';
import type { Outcome } from '../store/batches.ts';
import { aRun, someValues } from '../store/conformance/history-samples.ts';
import { aJob } from '../store/conformance/samples.ts';
import { listChanges, listObservations, listTrackedItems } from '../store/history.ts';
import { seriesUnit } from '../store/history-ids.ts';
import { applySnapshots } from './apply-snapshots.ts';
import { recordMissing } from './record-missing.ts';
import { addReadings, type UnitReadings } from './unit-readings.ts';

/**
 * A unit of a run: its reading with the prices of the items that it lists, or the code of its
 * fault.
 */
type UnitOfRun =
  | { readAt: number; items: Record<string, number>; isReused?: true; hasMore?: true }
  | 'gone'
  | 'failed';

interface RunOfSeries {
  units: Record<string, UnitOfRun>;
  /** End of the job; by default after its latest reading. */
  endedAt?: number;
  isLate?: boolean;
}

let fixture: JobFixture;
let userId: string;
beforeEach(async () => {
  fixture = await openJobFixture();
  userId = newId();
});
afterEach(() => fixture.close());

const outcomeOf = (unit: UnitOfRun): Outcome => {
  if (typeof unit === 'object') {
    const { readAt, hasMore } = unit;
    return { status: 'SUCCESS', attempt: 1, readAt, ...(hasMore ? { hasMore } : {}) };
  }
  const code = unit === 'gone' ? 'page_not_found' : 'page_unreadable';
  return { status: 'FAILED', code, message: '' };
};

/**
 * Compares a run of the series `daily`, each of whose units is a batch, and returns its changes.
 */
async function compareRun({
  units,
  endedAt = 1_000,
  isLate = false,
}: RunOfSeries): Promise<string[]> {
  const { context } = fixture;
  const { store } = context;
  const job = aJob({ userId, createdAt: 0, startedAt: endedAt - 1 });
  const run = aRun({ jobId: job.id, userId, market: 'mktf', at: endedAt });
  const batchOf = (key: string, seq: number, unit: UnitOfRun) => ({
    ...newBatch({
      id: newId(),
      jobId: job.id,
      seq,
      market: 'mktf',
      region: '',
      lane: 'bulk' as const,
      units: [{ key, input: {} }],
    }),
    outcomes: { 0: outcomeOf(unit) },
  });
  const all = Object.entries(units).map(([key, unit], seq) => ({
    key,
    unit,
    batch: batchOf(key, seq, unit),
  }));
  const readings = new Map<string, number | null>();
  for (const { batch } of all) addReadings(readings, job, run.series, batch);
  const failed = new Set([...readings].flatMap(([unit, readAt]) => (readAt === null ? unit : [])));
  const counts = { unchanged: 0 };
  for (const { key, unit, batch } of all) {
    if (typeof unit === 'string') continue;
    const snapshots = Object.entries(unit.items).map(([item, price]) => ({
      item: { userId, market: 'mktf', region: '', key: item },
      values: someValues({ price }),
      unit: seriesUnit(run.series, batch, key),
      batch: batch.seq,
      at: endedAt,
      readAt: unit.readAt,
      isReused: unit.isReused ?? false,
      isRepeated: false,
    }));
    const comparison = { run, isLate, rules: [], unreadUnits: async () => failed };
    counts.unchanged += (await applySnapshots(context, comparison, snapshots)).counts.unchanged;
  }
  const jobUnits = { all: async (): Promise<UnitReadings> => readings, unread: async () => failed };
  if (!isLate)
    for (const { batch } of all) await recordMissing(context, { run, job, units: jobUnits }, batch);
  const { items } = await listChanges(store, job.id, null, { limit: 100 });
  const changes = items.map(({ type, key }) => `${type} ${key}`);
  return counts.unchanged === 0 ? changes : [...changes, `${counts.unchanged} unchanged`];
}

const listing = (readAt: number, ...items: string[]): UnitOfRun => ({
  readAt,
  items: Object.fromEntries(items.map((item) => [item, 5])),
});

const presence = async () => {
  const { items } = await listTrackedItems(
    fixture.context.store,
    userId,
    'daily',
    {},
    { limit: 100 },
  );
  return Object.fromEntries(items.map(({ key, isPresent }) => [key, isPresent]));
};

describe('an overlapping run', () => {
  test('finds items that another run found later', async () => {
    await compareRun({ units: { one: listing(10, 'a'), two: listing(10, 'b') } });
    expect(await compareRun({ units: { one: listing(30, 'a') }, endedAt: 40 })).toEqual([
      '1 unchanged',
    ]);
    const slow = { one: listing(20, 'a'), two: listing(50, 'b') };
    expect(await compareRun({ units: slow, endedAt: 60 })).toEqual(['2 unchanged']);
    const next = { one: listing(70, 'a'), two: listing(70, 'b') };
    expect(await compareRun({ units: next, endedAt: 80 })).toEqual(['2 unchanged']);
  });

  test('does not miss an item that appeared after it had read the unit', async () => {
    await compareRun({ units: { one: listing(10, 'a') } });
    expect(await compareRun({ units: { one: listing(30, 'a', 'b') } })).toEqual([
      'new b',
      '1 unchanged',
    ]);
    expect(await compareRun({ units: { one: listing(20, 'a') } })).toEqual(['1 unchanged']);
    expect(await presence()).toEqual({ a: true, b: true });
  });

  test('does not restore an item that a later reading of its unit lacked', async () => {
    await compareRun({ units: { one: listing(10, 'a', 'b') } });
    expect(await compareRun({ units: { one: listing(30, 'a') } })).toEqual([
      'missing b',
      '1 unchanged',
    ]);
    expect(await compareRun({ units: { one: listing(20, 'a', 'b') } })).toEqual(['2 unchanged']);
    expect(await presence()).toEqual({ a: true, b: false });
    expect(await compareRun({ units: { two: listing(20, 'b') } })).toEqual(['back b']);
  });

  test('keeps the value of the latest reading', async () => {
    const { store } = fixture.context;
    const price = (readAt: number, value: number) => ({ one: { readAt, items: { a: value } } });
    await compareRun({ units: price(10, 12) });
    expect(await compareRun({ units: price(30, 12), endedAt: 40 })).toEqual(['1 unchanged']);
    expect(await compareRun({ units: price(20, 10), endedAt: 50 })).toEqual(['1 unchanged']);
    const item = { userId, market: 'mktf', region: '', key: 'a' };
    expect((await listObservations(store, item, 0, 100, { limit: 10 })).items).toHaveLength(1);
    expect(await compareRun({ units: price(35, 11), endedAt: 60 })).toEqual(['changed a']);
  });

  test('finds an item of a record that was reused', async () => {
    await compareRun({ units: { one: listing(10, 'a') } });
    expect(await compareRun({ units: { one: 'gone' }, endedAt: 30 })).toEqual(['missing a']);
    const reused: UnitOfRun = { readAt: 10, items: { a: 5 }, isReused: true };
    expect(await compareRun({ units: { one: reused }, endedAt: 40 })).toEqual(['back a']);
  });
});

describe('a listing that has more entries than were read', () => {
  const part = (readAt: number, ...items: string[]): UnitOfRun => ({
    readAt,
    items: Object.fromEntries(items.map((item) => [item, 5])),
    hasMore: true,
  });

  test('does not miss an item, and the next complete one does', async () => {
    await compareRun({ units: { one: listing(10, 'a', 'b') } });
    expect(await compareRun({ units: { one: part(20, 'a') } })).toEqual(['1 unchanged']);
    expect(await presence()).toEqual({ a: true, b: true });
    expect(await compareRun({ units: { one: part(30, 'b', 'c') } })).toEqual([
      'new c',
      '1 unchanged',
    ]);
    expect(await compareRun({ units: { one: listing(40, 'a', 'c') } })).toEqual([
      'missing b',
      '2 unchanged',
    ]);
  });

  test('can still list an item that another unit lists as well', async () => {
    await compareRun({ units: { one: listing(10, 'a'), two: listing(10, 'a') } });
    const cut = { one: part(20, 'b'), two: listing(20, 'a') };
    expect(await compareRun({ units: cut })).toEqual(['new b', '1 unchanged']);
    const gone = { one: part(30, 'b'), two: listing(30) };
    expect(await compareRun({ units: gone })).toEqual(['1 unchanged']);
    expect(await presence()).toEqual({ a: true, b: true });
  });
});

describe('an item that several units list', () => {
  const both = { one: listing(10, 'a'), two: listing(10, 'a') };

  test.each([both, { two: both.two, one: both.one }])(
    'is missing once one of them lacks it, in any order (%#)',
    async (units) => {
      await compareRun({ units });
      expect(await compareRun({ units: { two: listing(20, 'b') } })).toEqual([
        'new b',
        'missing a',
      ]);
    },
  );

  test('is not missing while one of them cannot be read', async () => {
    await compareRun({ units: both });
    expect(await compareRun({ units: { one: listing(20), two: 'failed' } })).toEqual([]);
    expect(await compareRun({ units: { one: listing(30), two: listing(30, 'a') } })).toEqual([
      '1 unchanged',
    ]);
    expect(await compareRun({ units: { one: listing(40), two: listing(40) } })).toEqual([
      'missing a',
    ]);
  });

  test('is not missing while one that could not be read before fails again', async () => {
    await compareRun({ units: both });
    const failing = { one: listing(20, 'a'), two: 'failed' as const };
    expect(await compareRun({ units: failing })).toEqual(['1 unchanged']);
    expect(await compareRun({ units: { one: listing(30), two: 'failed' } })).toEqual([]);
    expect(await compareRun({ units: { one: listing(40), two: listing(40) } })).toEqual([
      'missing a',
    ]);
  });

  test('is not missing after a retry of the units that failed', async () => {
    await compareRun({ units: both });
    await compareRun({ units: { one: listing(20, 'a'), two: 'failed' } });
    expect(await compareRun({ units: { two: listing(30) } })).toEqual([]);
  });

  test('is not missing if one of them was read before it was found there', async () => {
    await compareRun({ units: { one: listing(10, 'a'), two: listing(30, 'a') } });
    expect(await compareRun({ units: { one: listing(20), two: listing(20) } })).toEqual([]);
  });

  test('is counted once', async () => {
    await compareRun({ units: both });
    const again = { one: listing(20, 'a'), two: listing(20, 'a') };
    expect(await compareRun({ units: again })).toEqual(['1 unchanged']);
  });
});

describe('a late run', () => {
  test('changes nothing in its series, and counts each item once', async () => {
    await compareRun({ units: { one: listing(10, 'a') } });
    await compareRun({ units: { one: listing(30, 'a') }, endedAt: 40 });
    const late = { one: listing(20, 'a', 'b'), two: listing(20, 'a') };
    expect(await compareRun({ units: late, endedAt: 25, isLate: true })).toEqual(['2 unchanged']);
    expect(await presence()).toEqual({ a: true });
    expect(await compareRun({ units: { one: listing(50, 'a') }, endedAt: 60 })).toEqual([
      '1 unchanged',
    ]);
  });
});
