import { beforeEach, describe, expect, test } from 'vitest';
import { createProxyPool, type ProxyReport } from './proxies.ts';

let now: number;
let drawn: number;
const clock = { now: () => now, sleep: async () => {} };
const pool = (count: number) => createProxyPool(count, clock, () => drawn);

beforeEach(() => {
  now = 1_000_000;
  drawn = 0;
});

/** How often each of three proxies is picked, over draws spread evenly. */
function picks(pick: (before: number | undefined) => number): number[] {
  const counts = [0, 0, 0];
  for (let turn = 0; turn < 100; turn += 1) {
    drawn = turn / 100;
    counts[pick(undefined)]! += 1;
  }
  return counts;
}

test('proxies that do well are picked alike', () => {
  expect(picks(pool(3).pick)).toEqual([34, 33, 33]);
});

test('one that fails is picked less, and more again once it answers', () => {
  const { pick, report } = pool(3);
  report(0, 'failed');
  const [less] = picks(pick);
  expect(less).toBeLessThan(25);
  report(0, 'answered');
  report(0, 'answered');
  expect(picks(pick)[0]).toBeGreaterThan(less!);
});

test('the one before is kept while it does well', () => {
  const { pick, report } = pool(3);
  drawn = 0.5;
  expect(pick(2)).toBe(2);
  report(2, 'unanswered');
  expect(pick(2)).toBe(2);
  report(2, 'failed');
  expect(pick(2)).toBe(1);
});

describe('a bad one', () => {
  const rests = (reports: ProxyReport[]) => {
    const made = pool(2);
    for (const report of reports) made.report(0, report);
    return made.health()[0]!.restsUntil - now > 0;
  };

  test.each([
    [['failed'], false],
    [['failed', 'failed'], true],
    [['failed', 'answered', 'failed'], false],
    [Array(7).fill('unanswered'), false],
    [Array(8).fill('unanswered'), true],
    [Array(50).fill('answered'), false],
  ] as [ProxyReport[], boolean][])('after %j rests: %s', (reports, expected) => {
    expect(rests(reports)).toBe(expected);
  });

  test('is left out while it rests, longer each time, and rests again after one more failure', () => {
    const { pick, report, health } = pool(3);
    const restSeconds: number[] = [];
    report(1, 'failed');
    for (let time = 0; time < 7; time += 1) {
      report(1, 'failed');
      const ms = health()[1]!.restsUntil - now;
      restSeconds.push(ms / 1000);
      expect(picks(pick)[1]).toBe(0);
      now += ms;
      expect(picks(pick)[1]).toBeGreaterThan(0);
    }
    expect(restSeconds).toEqual([30, 60, 120, 240, 480, 900, 900]);
  });

  test('that has come to answer well again rests as short as at first', () => {
    const { report, health } = pool(1);
    const fail = () => {
      while (health()[0]!.restsUntil <= now) report(0, 'failed');
      return health()[0]!.restsUntil - now;
    };
    fail();
    now += 30_000;
    expect(fail()).toBe(60_000);
    now += 60_000;
    for (let answer = 0; answer < 10; answer += 1) report(0, 'answered');
    expect(fail()).toBe(30_000);
  });

  test('is taken where all rest: the one that has rested most', () => {
    const { pick, report } = pool(2);
    for (const index of [1, 0]) {
      report(index, 'failed');
      report(index, 'failed');
      now += 10;
    }
    expect(pick(undefined)).toBe(1);
    expect(pick(0)).toBe(1);
  });
});
