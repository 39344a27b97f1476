import { describe, expect, test } from 'vitest';
import { createManualClock } from '../../test/support/time/clock.ts';
import { cacheReading } from './cached-reading.ts';

describe('cacheReading()', () => {
  test('reads a value at most once in 5 s', async () => {
    const clock = createManualClock(0);
    let readings = 0;
    const read = cacheReading(clock, async () => ++readings);
    expect(await Promise.all([read(), read()])).toEqual([1, 1]);
    await clock.advance(4_999);
    expect(await read()).toBe(1);
    await clock.advance(1);
    expect(await read()).toBe(2);
  });

  test('reuses a value for 20 times the duration of its reading', async () => {
    const clock = createManualClock(0);
    let readings = 0;
    const read = cacheReading(clock, async () => {
      await clock.sleep(1_000);
      return ++readings;
    });
    const first = read();
    await clock.advance(1_000);
    expect(await first).toBe(1);
    await clock.advance(19_999);
    expect(await read()).toBe(1);
    await clock.advance(1);
    const second = read();
    await clock.advance(1_000);
    expect(await second).toBe(2);
  });

  test('does not reuse a failure', async () => {
    const clock = createManualClock(0);
    const results = [Promise.reject(new Error('away')), Promise.resolve('value')];
    const read = cacheReading(clock, () => results.shift()!);
    await expect(read()).rejects.toThrow('away');
    expect(await read()).toBe('value');
  });
});
