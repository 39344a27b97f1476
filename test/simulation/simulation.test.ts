import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openMongoStore } from '../../src/store/mongo/open.ts';
import type { Store } from '../../src/store/store.ts';
import type { MissingEngine } from '../engines/missing.ts';
import { type FoundMongo, findMongo } from '../engines/mongo.ts';
import { isSeedReplaced, seedsOf } from '../support/run/seeds.ts';
import { brokenStores, revealDefect, seedsOfDefects } from './broken-stores.ts';
import { simulate } from './run.ts';
import { type RarePath, rarePaths } from './world.ts';

const seedsPerTest = 25;

/** Splits a list into lists of at most `size` elements. */
function split<T>(values: readonly T[], size: number): T[][] {
  const starts = values.map((_, index) => index).filter((index) => index % size === 0);
  return starts.map((start) => values.slice(start, start + size));
}

/**
 * Runs seeds one after the other. Returns their problems, each with the command that reproduces it.
 */
async function problemsOf(
  seeds: readonly number[],
  option = '',
  open?: () => Store,
  seen = new Set<RarePath>(),
): Promise<string[]> {
  const problems: string[] = [];
  for (const seed of seeds) {
    const report = await simulate({ seed, ...(open ? { store: open() } : {}) });
    for (const path of report.seen) seen.add(path);
    for (const problem of report.problems)
      problems.push(`npm run simulate -- --seed ${seed}${option}: ${problem}`);
  }
  return problems;
}

describe('the core on SQLite', () => {
  const seen = new Set<RarePath>();

  const slices = split(seedsOf('simulation'), seedsPerTest).map((seeds) => ({
    seeds,
    from: seeds[0],
    to: seeds.at(-1),
  }));
  test.each(slices)(
    'keeps its invariants under the faults of seeds $from to $to',
    async ({ seeds }) => {
      expect(await problemsOf(seeds, '', undefined, seen)).toEqual([]);
    },
  );

  test.skipIf(isSeedReplaced)('takes every rare path under those seeds', () => {
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

  test('keeps its invariants under the faults of its seeds', async ({ skip }) => {
    if ('missing' in mongo) return skip(mongo.missing);
    const { fresh } = mongo;
    const seeds = seedsOf('simulation-mongo');
    expect(await problemsOf(seeds, ' --mongo', () => openMongoStore({ uri: fresh() }))).toEqual([]);
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
