import { beforeEach, describe, expect, test } from 'vitest';
import { createManualClock, flushTasks, type ManualClock } from '../../test/support/time/clock.ts';
import { createPageMemory, type PageMemory } from './page-memory.ts';

let clock: ManualClock;
let memory: PageMemory;
beforeEach(() => {
  clock = createManualClock(0);
  memory = createPageMemory({ maxBytes: 100, clock });
});

/** Requests a reservation, and returns the share and whether the reservation is granted. */
async function requested(bytes: number, signal?: AbortSignal) {
  const share = memory.share();
  const state = { share, granted: false };
  share.reserve(bytes, signal).then(
    () => {
      state.granted = true;
    },
    () => {},
  );
  await flushTasks();
  return state;
}

describe('createPageMemory()', () => {
  test('serves waiting reservations in order', async () => {
    const first = await requested(60);
    const second = await requested(60);
    const small = await requested(10);
    expect([first.granted, second.granted, small.granted]).toEqual([true, false, false]);
    first.share.release();
    await flushTasks();
    expect([second.granted, small.granted]).toEqual([true, true]);
  });

  test('serves the next reservation when the one before it is aborted', async () => {
    const abort = new AbortController();
    await requested(60);
    const aborted = await requested(60, abort.signal);
    const small = await requested(10);
    expect([aborted.granted, small.granted]).toEqual([false, false]);
    abort.abort();
    await flushTasks();
    expect([aborted.granted, small.granted]).toEqual([false, true]);
  });

  test('grants a reservation above the limit when nothing else is reserved', async () => {
    const small = await requested(1);
    const large = await requested(500);
    expect(large.granted).toBe(false);
    small.share.release();
    await flushTasks();
    expect(large.granted).toBe(true);
    const next = await requested(1);
    expect(next.granted).toBe(false);
    large.share.release();
    await flushTasks();
    expect(next.granted).toBe(true);
  });

  test('gives pages the memory that records leave free, and at least one page', async () => {
    memory.records.add(49);
    expect(memory.records.isFull).toBe(false);
    memory.records.add(1);
    expect(memory.records.isFull).toBe(true);
    const first = await requested(60);
    expect(first.granted).toBe(true);
    first.share.shrink(20);
    const second = await requested(40);
    expect(second.granted).toBe(false);
    memory.records.remove(10);
    await flushTasks();
    expect([second.granted, memory.records.isFull]).toEqual([true, false]);
  });

  test('frees the released bytes of a share exactly once', async () => {
    const first = await requested(100);
    const second = await requested(70);
    first.share.shrink(31);
    await flushTasks();
    expect(second.granted).toBe(false);
    first.share.shrink(30);
    first.share.shrink(90);
    await flushTasks();
    expect(second.granted).toBe(true);
    first.share.release();
    first.share.release();
    expect((await requested(31)).granted).toBe(false);
  });

  test('grants further bytes immediately to a share that is not empty', async () => {
    const first = await requested(60);
    const other = await requested(40);
    const waiting = await requested(1);
    await first.share.reserve(90);
    expect(waiting.granted).toBe(false);
    first.share.release();
    await flushTasks();
    expect(waiting.granted).toBe(true);
    other.share.release();
  });

  test('skips aborted reservations, and measures waiting times', async () => {
    const first = await requested(100);
    const stopping = new AbortController();
    const stopped = await requested(100, stopping.signal);
    const next = await requested(100);
    await clock.advance(500);
    stopping.abort(new Error('stopped'));
    await flushTasks();
    await clock.advance(250);
    first.share.release();
    await flushTasks();
    expect([stopped.granted, next.granted]).toEqual([false, true]);
    expect([first, stopped, next].map(({ share }) => share.waitedMs)).toEqual([0, 500, 750]);
  });

  test('rejects with the reason of an aborted signal', async () => {
    await requested(100);
    const stopping = new AbortController();
    const waiting = memory.share().reserve(1, stopping.signal);
    stopping.abort(new Error('stopped'));
    await expect(waiting).rejects.toThrow('stopped');
    await expect(memory.share().reserve(1, stopping.signal)).rejects.toThrow('stopped');
  });
});
