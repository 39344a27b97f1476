import { beforeEach, describe, expect, test } from 'vitest';
import { createProxyPool, type ProxyReport } from './proxy-pool.ts';

let now: number;
let drawn: number;
const clock = { now: () => now, sleep: async () => {} };
const pool = (count: number) => createProxyPool(count, clock, () => drawn);

beforeEach(() => {
  now = 1_000_000;
  drawn = 0;
});

/** Counts how often each of three proxies is picked, over evenly distributed draws. */
function picks(pick: (before: number | undefined) => number): number[] {
  const counts = [0, 0, 0];
  for (let turn = 0; turn < 100; turn += 1) {
    drawn = turn / 100;
    counts[pick(undefined)]! += 1;
  }
  return counts;
}

test('pick() distributes requests evenly over healthy proxies', () => {
  expect(picks(pool(3).pick)).toEqual([34, 33, 33]);
});

test('pick() prefers proxies with fewer failures', () => {
  const { pick, report } = pool(3);
  report(0, 'failed');
  const [less] = picks(pick);
  expect(less).toBeLessThan(25);
  report(0, 'responded');
  report(0, 'responded');
  expect(picks(pick)[0]).toBeGreaterThan(less!);
});

test('pick() keeps the previous proxy while it is healthy', () => {
  const { pick, report } = pool(3);
  drawn = 0.5;
  expect(pick(2)).toBe(2);
  report(2, 'no_response');
  expect(pick(2)).toBe(2);
  report(2, 'failed');
  expect(pick(2)).toBe(1);
});

describe('a failing proxy', () => {
  const isSuspended = (reports: ProxyReport[]) => {
    const tested = pool(2);
    for (const report of reports) tested.report(0, report);
    return tested.health()[0]!.suspendedUntil - now > 0;
  };

  test.each([
    [['failed'], false],
    [['failed', 'failed'], true],
    [['failed', 'responded', 'failed'], false],
    [Array(7).fill('no_response'), false],
    [Array(8).fill('no_response'), true],
    [Array(50).fill('responded'), false],
  ] as [ProxyReport[], boolean][])('is suspended after %j: %s', (reports, expected) => {
    expect(isSuspended(reports)).toBe(expected);
  });

  test('is not picked while suspended, each time for longer, and is suspended again by one more failure', () => {
    const { pick, report, health } = pool(3);
    const suspensionSeconds: number[] = [];
    report(1, 'failed');
    for (let time = 0; time < 7; time += 1) {
      report(1, 'failed');
      const ms = health()[1]!.suspendedUntil - now;
      suspensionSeconds.push(ms / 1000);
      expect(picks(pick)[1]).toBe(0);
      now += ms;
      expect(picks(pick)[1]).toBeGreaterThan(0);
    }
    expect(suspensionSeconds).toEqual([30, 60, 120, 240, 480, 900, 900]);
  });

  test('starts with the shortest suspension again once it has recovered', () => {
    const { report, health } = pool(1);
    const fail = () => {
      while (health()[0]!.suspendedUntil <= now) report(0, 'failed');
      return health()[0]!.suspendedUntil - now;
    };
    fail();
    now += 30_000;
    expect(fail()).toBe(60_000);
    now += 60_000;
    for (let answer = 0; answer < 10; answer += 1) report(0, 'responded');
    expect(fail()).toBe(30_000);
  });

  test('is picked if all are suspended, the one whose suspension ends first', () => {
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
