import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Outcome } from '../../src/store/documents.ts';
import { openMongoStore } from '../../src/store/mongo/open.ts';
import { openSqliteStore } from '../../src/store/sqlite/open.ts';
import type { Store } from '../../src/store/store.ts';
import type { MissingEngine } from '../engines/missing.ts';
import { type FoundMongo, findMongo } from '../engines/mongo.ts';
import { simulate } from './run.ts';
import { type RarePath, rarePaths } from './world.ts';

const seedsPerTest = 25;
const mongoSeeds = 5;

/** Runs seeds one after the other. Returns their problems, each with the command that reproduces it. */
async function problemsOf(
  first: number,
  count: number,
  option = '',
  open?: () => Store,
  seen = new Set<RarePath>(),
): Promise<string[]> {
  const problems: string[] = [];
  for (let seed = first; seed < first + count; seed++) {
    const report = await simulate({ seed, ...(open ? { store: open() } : {}) });
    for (const path of report.seen) seen.add(path);
    for (const problem of report.problems)
      problems.push(`npm run simulate -- --seed ${seed}${option}: ${problem}`);
  }
  return problems;
}

describe('the core on SQLite', () => {
  const seen = new Set<RarePath>();

  const firsts = Array.from({ length: 8 }, (_, index) => 1 + index * seedsPerTest);
  test.each(firsts)('keeps its invariants under the faults of 25 seeds from %i', async (first) => {
    expect(await problemsOf(first, seedsPerTest, '', undefined, seen)).toEqual([]);
  });

  test('takes every rare path under those seeds', () => {
    expect(rarePaths.filter((path) => !seen.has(path))).toEqual([]);
  });
});

describe('the core on MongoDB', () => {
  let mongo: FoundMongo | MissingEngine;
  beforeAll(async () => {
    mongo = await findMongo();
  });
  afterAll(async () => {
    if (!('missing' in mongo)) await mongo.stop();
  });

  test('keeps its invariants under the faults of five seeds', async ({ skip }) => {
    if ('missing' in mongo) return skip(mongo.missing);
    const { fresh } = mongo;
    expect(await problemsOf(1, mongoSeeds, ' --mongo', () => openMongoStore({ uri: fresh() }))).toEqual([]);
  });
});

describe('simulate()', () => {
  test('repeats a run exactly for the same seed', async () => {
    const [one, other, third] = [
      await simulate({ seed: 7 }),
      await simulate({ seed: 7 }),
      await simulate({ seed: 8 }),
    ];
    expect(other.traceHash).toBe(one.traceHash);
    expect(other.steps).toBe(one.steps);
    expect(third.traceHash).not.toBe(one.traceHash);
  });

  const broken: [string, (store: Store) => Partial<Store>][] = [
    [
      'posts an entry again with another key',
      (store) => {
        let posts = 0;
        return {
          postLedgerEntry: (entry) =>
            store.postLedgerEntry(
              entry.type === 'refund' && posts++ === 0 ? { ...entry, key: `${entry.key}:again` } : entry,
            ),
        };
      },
    ],
    [
      'records successes without the reference to their records',
      (store) => ({
        recordOutcomes: (batchId, attempt, outcomes) =>
          store.recordOutcomes(batchId, attempt, outcomes, null),
        finishBatch: (batchId, attempt, outcomes, _part, file, now) =>
          store.finishBatch(batchId, attempt, outcomes, null, file, now),
      }),
    ],
    ['forgets idempotency keys', () => ({ claimSubmission: async () => null })],
    [
      'forgets the owner of a claim',
      (store) => ({
        renewBatch: async () => true,
        releaseBatch: async () => false,
        requeueStalled: async () => [],
        claimBatch: store.claimBatch,
      }),
    ],
    [
      'does not mark reused records',
      (store) => {
        const unmark = (outcomes: Record<number, Outcome>) =>
          Object.fromEntries(
            Object.entries(outcomes).map(([index, outcome]) =>
              outcome.status === 'SUCCESS'
                ? [index, { ...outcome, collectedAt: undefined }]
                : [index, outcome],
            ),
          );
        return {
          recordOutcomes: (batchId, attempt, outcomes, part) =>
            store.recordOutcomes(batchId, attempt, unmark(outcomes), part),
          finishBatch: (batchId, attempt, outcomes, part, file, now) =>
            store.finishBatch(batchId, attempt, unmark(outcomes), part, file, now),
        };
      },
    ],
    [
      'forgets what ended an observation',
      (store) => ({
        addObservations: (added) => store.addObservations(added.map((each) => ({ ...each, previous: null }))),
      }),
    ],
    ['compares jobs in any order', () => ({ hasEarlierRun: async () => false })],
    [
      'keeps a notification twice',
      (store) => {
        let kept = 0;
        return {
          createDelivery: (delivery) =>
            store.createDelivery({ ...delivery, key: `${delivery.key} ${kept++}` }),
        };
      },
    ],
  ];

  test.each(broken)('finds a store that %s', { timeout: 180_000 }, async (_name, change) => {
    const problems: string[] = [];
    for (let seed = 1; seed <= 60 && problems.length === 0; seed++) {
      const store = openSqliteStore({ path: ':memory:' });
      problems.push(...(await simulate({ seed, store: { ...store, ...change(store) } })).problems);
    }
    expect(problems).not.toEqual([]);
  });
});
