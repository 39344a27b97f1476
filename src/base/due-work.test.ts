import { describe, expect, test } from 'vitest';
import { createManualClock, flushTasks } from '../../test/support/time/clock.ts';
import { type DueWork, processDue, repeat } from './due-work.ts';

const clock = createManualClock(0);

/** Returns work on the numbers below `count`, and the numbers that were processed. */
function workOf(count: number, rest: Partial<DueWork<number>> = {}) {
  const left = Array.from({ length: count }, (_, at) => at);
  const done: number[] = [];
  const work: DueWork<number> = {
    claim: async (limit) => left.splice(0, limit),
    claimSize: 4,
    concurrency: 1,
    maxMs: 1_000,
    process: async (at) => done.push(at),
    onError: () => {},
    ...rest,
  };
  return { work, left, done };
}

describe('processDue()', () => {
  test('processes all due documents', async () => {
    const { work, done } = workOf(10);
    expect(await processDue(work, clock)).toBe(10);
    expect(done).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 9]);
  });

  test('processes those of the claimed documents that are selected', async () => {
    const select = async (claimed: readonly number[]) => claimed.filter((at) => at % 2 === 1);
    const { work, done } = workOf(6, { select });
    expect(await processDue(work, clock)).toBe(6);
    expect(done).toEqual([1, 3, 5]);
  });

  test('processes up to the limit at the same time', async () => {
    const held = Promise.withResolvers<void>();
    const started: number[] = [];
    const process = (at: number) => {
      started.push(at);
      return held.promise;
    };
    const { work } = workOf(5, { process, concurrency: 3 });
    const processing = processDue(work, clock);
    await flushTasks();
    expect(started).toEqual([0, 1, 2]);
    held.resolve();
    expect(await processing).toBe(5);
  });

  test('continues after a failure', async () => {
    const failed: number[] = [];
    const done: number[] = [];
    const { work } = workOf(6, {
      process: async (at) => {
        if (at % 2 === 0) throw new Error('broken');
        done.push(at);
      },
      onError: (at) => failed.push(at),
    });
    expect(await processDue(work, clock)).toBe(6);
    expect([failed, done]).toEqual([
      [0, 2, 4],
      [1, 3, 5],
    ]);
  });

  test('ends the round with an error that onError() throws, once no other document is in progress', async () => {
    const held = Promise.withResolvers<void>();
    let ended = false;
    const { work, left } = workOf(9, {
      concurrency: 2,
      process: async (at) => {
        if (at === 0) throw new Error('unavailable');
        await held.promise;
        ended = true;
      },
      onError: (_at, error) => {
        throw error;
      },
    });
    const processing = processDue(work, clock);
    await flushTasks();
    held.resolve();
    await expect(processing).rejects.toThrow('unavailable');
    expect([ended, left.length]).toEqual([true, 5]);
  });

  test('ends after the documents that exceed the time limit', async () => {
    const { work, left } = workOf(10, { process: () => clock.advance(300) });
    expect(await processDue(work, clock)).toBe(4);
    expect(left).toHaveLength(6);
  });

  test('stops when the signal is aborted', async () => {
    const stopping = new AbortController();
    const { work, done } = workOf(10);
    work.process = async (at) => {
      done.push(at);
      stopping.abort();
    };
    await processDue(work, clock, stopping.signal);
    expect(done).toEqual([0]);
  });
});

test('repeat() waits between rounds, longer after each failure, and not after a busy round', async () => {
  const time = createManualClock(0);
  const stopping = new AbortController();
  const rounds: number[] = [];
  const failures: number[] = [];
  const run = async () => {
    rounds.push(time.now());
    if (rounds.length === 1) return true;
    if (rounds.length > 2 && rounds.length < 8) throw new Error('broken');
    return false;
  };
  const onError = (_error: unknown, count: number) => failures.push(count);
  const repeating = repeat(run, { clock: time, intervalMs: 1_000, onError }, stopping.signal);
  await flushTasks();
  expect(rounds).toEqual([0, 0]);
  for (let second = 0; second < 20; second += 1) await time.advance(1_000);
  expect(rounds.slice(2)).toEqual([1_000, 2_000, 4_000, 8_000, 13_000, 18_000, 19_000, 20_000]);
  expect(failures).toEqual([1, 2, 3, 4, 5]);
  stopping.abort();
  await repeating;
});

test('repeat() pauses before the first round if it starts late, and runs none once aborted', async () => {
  const time = createManualClock(0);
  const stopping = new AbortController();
  const rounds: number[] = [];
  const run = async () => rounds.push(time.now());
  const options = { clock: time, intervalMs: 1_000, startsLate: true, onError: () => {} };
  const repeating = repeat(run, options, stopping.signal);
  await time.advance(999);
  expect(rounds).toEqual([]);
  await time.advance(1_001);
  expect(rounds).toEqual([1_000, 2_000]);
  stopping.abort();
  await repeating;
  expect(rounds).toHaveLength(2);
});
