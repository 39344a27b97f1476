import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openMongoStore } from '../../src/store/mongo/open.ts';
import type { Store } from '../../src/store/store.ts';
import type { MissingEngine } from '../engines/missing.ts';
import { type FoundMongo, findMongo } from '../engines/mongo.ts';
import { isSeedReplaced, seedsOf } from '../support/run/seeds.ts';
import { brokenStores, revealDefect, seedsOfDefects } from './broken-stores.ts';
import { simulate } from './run.ts';
import { type RarePath, rarePaths } from './world.ts';

/**
 * Runs seeds one after the other. Requires that none breaks an invariant, and that together they
 * take every rare path.
 */
async function runSeeds(
  seeds: readonly number[],
  { option = '', open }: { option?: string; open?: () => Store } = {},
): Promise<void> {
  const seen = new Set<RarePath>();
  const problems: string[] = [];
  for (const seed of seeds) {
    const report = await simulate({ seed, ...(open ? { store: open() } : {}) });
    for (const path of report.seen) seen.add(path);
    for (const problem of report.problems)
      problems.push(`npm run simulate -- --seed ${seed}${option}: ${problem}`);
  }
  expect(problems).toEqual([]);
  if (!isSeedReplaced) expect(rarePaths.filter((path) => !seen.has(path))).toEqual([]);
}

test('the core on SQLite keeps its invariants under the faults of its seeds', () =>
  runSeeds(seedsOf('simulation')));

describe('the core on MongoDB', () => {
  let mongo: FoundMongo | MissingEngine;
  beforeAll(async () => {
    mongo = await findMongo();
  });
  afterAll(async () => {
    if (!('missing' in mongo)) await mongo.stop();
  });

  test('keeps its invariants under the faults of its seeds', async ({ skip }) => {
    if ('missing' in mongo) return skip(mongo.missing);
    const { fresh } = mongo;
    const open = () => openMongoStore({ uri: fresh() });
    await runSeeds(seedsOf('simulation-mongo'), { option: ' --mongo', open });
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

  test.each(brokenStores)('finds a store that $defect', async (broken) => {
    // Any change of the core gives a seed another course.
    for (const seed of [broken.seed, ...seedsOfDefects])
      if ((await revealDefect(broken, seed)).length > 0) return;
    expect.fail(`no seed reveals a store that ${broken.defect}`);
  });
});
