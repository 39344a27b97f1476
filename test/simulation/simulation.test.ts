import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openMongoStore } from '../../src/store/mongo/open.ts';
import type { Store } from '../../src/store/store.ts';
import type { MissingEngine } from '../engines/missing.ts';
import { type FoundMongo, findMongo } from '../engines/mongo.ts';
import { brokenStores, revealDefect } from './broken-stores.ts';
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

  const firsts = Array.from({ length: 2 }, (_, index) => 1 + index * seedsPerTest);
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

  test.each(brokenStores)('finds a store that $defect', async (broken) => {
    const problems = await revealDefect(broken, broken.seed);
    const hint = `seed ${broken.seed} does not reveal it any more: npm run simulate -- --defects finds another`;
    expect(problems, hint).not.toEqual([]);
  });
});
