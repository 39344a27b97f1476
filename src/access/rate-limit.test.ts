import { describe, expect, test } from 'vitest';
import { handClock } from '../../gateway/fixture/gateway.ts';
import type { Fault } from '../contract/fault.ts';
import { createRateLimit } from './rate-limit.ts';

const ann = { role: 'user' as const, holderId: 'user-1', balance: 7 };

/** Takes until the limit rejects; returns the number of requests allowed. */
function takeAll(take: () => unknown): number {
  for (let taken = 0; ; taken += 1) {
    try {
      take();
    } catch (error) {
      expect((error as Fault).code).toBe('rate_limited');
      return taken;
    }
  }
}

describe('createRateLimit()', () => {
  test('counts each user separately', () => {
    const { take } = createRateLimit({ requestsPerSecond: 3, clock: handClock() });
    expect(takeAll(() => take(ann))).toBe(3);
    expect(takeAll(() => take({ ...ann, holderId: 'user-2' }))).toBe(3);
  });

  test('does not limit operators', () => {
    const { take } = createRateLimit({ requestsPerSecond: 1, clock: handClock() });
    for (let turn = 0; turn < 10; turn += 1) expect(take({ ...ann, role: 'operator' })).toEqual({});
  });

  test('returns the retry delay, the remaining quota and the credits when it rejects', () => {
    const clock = handClock();
    const { take } = createRateLimit({ requestsPerSecond: 0.5, clock });
    take(ann);
    clock.move(500);
    expect(() => take(ann)).toThrow(
      expect.objectContaining({
        retryAfterMs: 1500,
        headers: expect.objectContaining({
          ratelimit: '"key";r=0;t=2',
          'x-credits-remaining': '7',
        }),
      }),
    );
    clock.move(1500);
    expect(take(ann)).toMatchObject({ 'ratelimit-policy': '"key";q=1;w=2' });
  });

  test('check() rejects like take() without counting', () => {
    const { take, check } = createRateLimit({ requestsPerSecond: 2, clock: handClock() });
    for (let turn = 0; turn < 10; turn += 1)
      expect(check(ann)).toMatchObject({ ratelimit: '"key";r=2;t=0' });
    takeAll(() => take(ann));
    expect(() => check(ann)).toThrow(expect.objectContaining({ code: 'rate_limited' }));
  });

  test.each([
    [20, 4, 5],
    [20, 3, 6],
    [2, 5, 1],
  ])(
    'allows a share of %i requests per second with %i serving processes',
    (rate, processes, burst) => {
      const clock = handClock();
      const { take } = createRateLimit({
        requestsPerSecond: rate,
        clock,
        processes: () => processes,
      });
      expect(takeAll(() => take(ann))).toBe(burst);
      let taken = 0;
      for (let tick = 0; tick < 1_000; tick += 1) {
        clock.move(100);
        taken += takeAll(() => take(ann));
      }
      expect(taken * processes).toBeGreaterThan(100 * rate - 2 * processes);
      expect(taken * processes).toBeLessThan(100 * rate + processes);
    },
  );

  test('adapts when a process starts or ends, and states the quota of all processes', () => {
    const clock = handClock();
    let processes = 1;
    const { take } = createRateLimit({ requestsPerSecond: 10, clock, processes: () => processes });
    expect(take(ann)).toMatchObject({
      ratelimit: '"key";r=9;t=1',
      'ratelimit-policy': '"key";q=10;w=1',
    });
    processes = 2;
    expect(take(ann)).toMatchObject({
      ratelimit: '"key";r=8;t=1',
      'ratelimit-policy': '"key";q=10;w=1',
    });
    expect(takeAll(() => take(ann))).toBe(4);
    processes = 1;
    clock.move(1_000);
    expect(takeAll(() => take(ann))).toBe(10);
  });
});
