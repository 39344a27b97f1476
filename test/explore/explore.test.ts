import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { fixedSeeds, maxSeed } from '../support/run/seeds.ts';
import { runs } from '../support/service/process-tree.ts';
import { until } from '../support/time/until.ts';
import { runCommandLine } from './child.ts';
import { parseOptions } from './options.ts';
import { type ScheduledSearch, scheduleRuns } from './schedule.ts';
import { findPropertyTests, searches } from './searches.ts';

describe('parseOptions()', () => {
  test('has defaults', () => {
    expect(parseOptions([])).toEqual({ minutes: 10, stacks: ['embedded'], seed: null });
  });

  test('reads every option', () => {
    expect(parseOptions(['--minutes', '3', '--stack', 'both', '--seed', '7'])).toEqual({
      minutes: 3,
      stacks: ['embedded', 'distributed'],
      seed: 7,
    });
  });

  test.each([
    [['--minutes', '0'], '--minutes: "0" is not an integer from 1 to 1440'],
    [['--minutes', 'ten'], '--minutes: "ten" is not an integer from 1 to 1440'],
    [['--stack', 'all'], '--stack: "all" is not one of embedded, distributed, both, cluster'],
    [['--seed', '0'], '--seed: "0" is not an integer from 1 to 99999999'],
    [['--seed', '1e3'], '--seed: "1e3" is not an integer from 1 to 99999999'],
    [['--seconds', '5'], "Unknown option '--seconds'"],
  ])('rejects %j', (parameters, message) => {
    expect(() => parseOptions(parameters)).toThrow(message);
  });
});

describe('scheduleRuns()', () => {
  const names: ScheduledSearch[] = [
    { name: 'chaos-embedded', minSeconds: 60 },
    { name: 'simulation', minSeconds: 0 },
    { name: 'schemathesis', minSeconds: 120 },
    { name: 'pages', minSeconds: 0 },
  ];

  /** Returns the first runs, if the remaining time is the same at all times. */
  const firstRuns = (count: number, firstSeed: number, remainingSeconds: number) => [
    ...scheduleRuns({ searches: names, firstSeed, remainingSeconds: () => remainingSeconds }).take(
      count,
    ),
  ];
  const namesOf = (count: number, seconds: number) =>
    firstRuns(count, 5, seconds).map(({ search }) => search.name);

  test('runs each cheap search before a long one, and the long ones in turn', () => {
    const cheap = ['simulation', 'pages'];
    const rounds = [
      ...cheap,
      'chaos-embedded',
      ...cheap,
      'schemathesis',
      ...cheap,
      'chaos-embedded',
    ];
    expect(namesOf(9, 600)).toEqual(rounds);
  });

  test('starts no long search that takes more than the remaining time', () => {
    expect(namesOf(6, 90)).toEqual([
      'simulation',
      'pages',
      'chaos-embedded',
      'simulation',
      'pages',
      'chaos-embedded',
    ]);
    expect(namesOf(4, 30)).toEqual(['simulation', 'pages', 'simulation', 'pages']);
  });

  test('starts with the first seed, and derives a different one for each later run', () => {
    const seeds = firstRuns(200, 5, 600).map(({ seed }) => seed);
    expect(seeds[0]).toBe(5);
    expect(new Set(seeds).size).toBe(200);
    expect(Math.min(...seeds)).toBeGreaterThanOrEqual(1);
    expect(Math.max(...seeds)).toBeLessThanOrEqual(maxSeed);
  });

  test('repeats the seeds of a search, whichever others run', () => {
    const seedsOf = (seconds: number) =>
      firstRuns(20, 5, seconds).flatMap(({ search, seed }) =>
        search.name === 'pages' ? [seed] : [],
      );
    expect(seedsOf(30).slice(0, 5)).toEqual(seedsOf(600).slice(0, 5));
  });
});

describe('searches', () => {
  test('cover every list of fixed seeds', () => {
    expect(searches.map(({ name }) => name).sort()).toEqual(Object.keys(fixedSeeds).sort());
  });

  test('have commands that name the seed', () => {
    for (const search of searches) expect(search.formatCommand(4711)).toMatch(/\b4711\b/);
  });

  test('find the files that check properties', () => {
    expect(findPropertyTests()).toContain('src/markets/json/json-values.test.ts');
    expect(findPropertyTests()).not.toContain('src/markets/mutated-pages.test.ts');
  });
});

describe('runCommandLine()', () => {
  const never = new AbortController().signal;

  test('returns whether a command passed, and its output', async () => {
    expect(await runCommandLine('A=1 node -p "process.env.A"', never)).toEqual({
      result: 'passed',
      output: '1\n',
    });
    expect(await runCommandLine('echo broken >&2; exit 3', never)).toEqual({
      result: 'failed',
      output: 'broken\n',
    });
  });

  test('stops every process of a command, even one that ignores SIGTERM', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'gleaner-explore-'));
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
    const file = join(folder, 'pid');
    const stop = new AbortController();
    const running = runCommandLine(
      `trap '' TERM; sleep 600 & echo $! > ${file}; wait`,
      stop.signal,
    );
    const readPid = () => Number(readFileSync(file, 'utf8')) || undefined;
    const pid = await until('the command has started a process', readPid, { withinMs: 10_000 });
    stop.abort();
    expect(await running).toEqual({ result: 'unfinished', output: '' });
    expect(runs(pid)).toBe(false);
  });
});
