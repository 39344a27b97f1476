import { once } from 'node:events';
import { expect, test } from 'vitest';
import { createTimeBudget } from './writer.ts';

test('ends after its base and the time of its bytes', async () => {
  let now = 1_000;
  let checks = 0;
  const fired = Promise.withResolvers<void>();
  const clock = () => {
    checks += 1;
    // At the start, with the first timer, and when that fires.
    if (checks === 3) fired.resolve();
    return now;
  };
  const reason = (ms: number) => new Error(`not within ${ms} ms`);
  const budget = createTimeBudget({ baseMs: 5, minBytesPerSecond: 1_000, reason, now: clock });
  budget.add(50_000);
  now += 50_004;
  await fired.promise;
  expect(budget.signal.aborted).toBe(false);
  const ended = once(budget.signal, 'abort');
  now += 1;
  await ended;
  expect(budget.signal.reason).toEqual(new Error('not within 50005 ms'));
  budget.end();
});
