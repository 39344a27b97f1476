import { beforeEach, expect, test } from 'vitest';
import { createManualClock } from '../../test/support/time/clock.ts';
import type { Clock } from '../base/clock.ts';
import { noPause, type OriginPause } from '../store/origin-state.ts';
import { TokenBucket } from './token-bucket.ts';

const start = 1_000_000;
let now: number;
let free: number;
let reserved: { slots: number; intervalMs: number }[];
let pauses: OriginPause[];

/** A clock whose sleepers wake at once. */
const skippingClock = {
  now: () => now,
  steady: () => now,
  sleep: async (ms: number, signal?: AbortSignal) => {
    signal?.throwIfAborted();
    now += ms;
  },
};

function newBucket(
  intervalMs: number,
  clock: Clock = skippingClock,
  isAlone: () => boolean = () => false,
): TokenBucket {
  return new TokenBucket({
    origin: 'http://origin.example',
    intervalMs,
    reserve: async (_origin, slots, interval, at) => {
      reserved.push({ slots, intervalMs: interval });
      const first = Math.max(free, at);
      free = first + slots * interval;
      return { first, pause: noPause };
    },
    isAlone,
    onPauseRead: (pause) => pauses.push(pause),
    clock,
  });
}

beforeEach(() => {
  now = start;
  free = 0;
  reserved = [];
  pauses = [];
});

test('take() resolves one interval apart, and reserves the slots that it needs', async () => {
  const bucket = newBucket(100);
  const times: number[] = [];
  for (let turn = 0; turn < 30; turn += 1) {
    await bucket.take();
    times.push(now);
  }
  expect(times.map((time) => time - start)).toEqual(
    Array.from({ length: 30 }, (_, turn) => turn * 100),
  );
  expect(reserved.map(({ slots }) => slots)).toEqual(Array(30).fill(1));
  expect(pauses).toHaveLength(30);
});

test('take() reserves a few milliseconds ahead of a fast origin', async () => {
  const bucket = newBucket(0.5);
  for (let turn = 0; turn < 30; turn += 1) await bucket.take();
  expect(reserved.map(({ slots }) => slots)).toEqual([10, 10, 10]);
});

test('take() reserves a second while no other process asks the origin', async () => {
  let isAlone = true;
  const bucket = newBucket(100, skippingClock, () => isAlone);
  for (let turn = 0; turn < 10; turn += 1) await bucket.take();
  expect(reserved.map(({ slots }) => slots)).toEqual([10]);
  isAlone = false;
  for (let turn = 0; turn < 2; turn += 1) await bucket.take();
  expect(reserved.map(({ slots }) => slots)).toEqual([10, 1, 1]);
});

test('take() reserves up to four seconds while one process asks the origin without a pause', async () => {
  const bucket = newBucket(100, skippingClock, () => true);
  for (let turn = 0; turn < 111; turn += 1) await bucket.take();
  expect(reserved.map(({ slots }) => slots)).toEqual([10, 20, 40, 40, 40]);
  now = free + 2_000;
  await bucket.take();
  expect(reserved.at(-1)).toMatchObject({ slots: 10 });
});

test('a longer interval discards the slots that were reserved', async () => {
  const bucket = newBucket(100, skippingClock, () => true);
  await bucket.take();
  bucket.setInterval(2_000);
  await bucket.take();
  expect(now - start).toBe(1_000);
  await bucket.take();
  expect(now - start).toBe(3_000);
});

test('take() does not make up for missed slots', async () => {
  const bucket = newBucket(100);
  for (let turn = 0; turn < 4; turn += 1) await bucket.take();
  now += 60_000;
  const before = reserved.length;
  await bucket.take();
  const first = now;
  await bucket.take();
  expect(now - first).toBeGreaterThanOrEqual(100);
  expect(reserved[before]).toMatchObject({ slots: 1 });
});

test('take() shares reservations between concurrent calls', async () => {
  const bucket = newBucket(10);
  await Promise.all(Array.from({ length: 7 }, () => bucket.take()));
  expect(reserved.map(({ slots }) => slots)).toEqual([1, 6]);
});

test('take() reserves at most one second, and the next slots shortly before the last', async () => {
  const manual = createManualClock(start);
  const bucket = newBucket(100, manual);
  const waiting = Promise.all(Array.from({ length: 25 }, () => bucket.take()));
  await manual.advance(0);
  expect(reserved.map(({ slots }) => slots)).toEqual([1, 10]);
  await manual.advance(749);
  expect(reserved).toHaveLength(2);
  await manual.advance(1);
  expect(reserved.map(({ slots }) => slots)).toEqual([1, 10, 10]);
  await manual.advance(1_000);
  expect(reserved.map(({ slots }) => slots)).toEqual([1, 10, 10, 4]);
  await manual.advance(1_000);
  await waiting;
});

test('a request that is aborted returns its slot to the next one', async () => {
  const manual = createManualClock(start);
  const bucket = newBucket(1_000, manual);
  await bucket.take();
  const stop = new AbortController();
  const aborted = bucket.take(stop.signal);
  await manual.advance(0);
  stop.abort(new Error('stop'));
  await expect(aborted).rejects.toThrow('stop');
  const next = bucket.take();
  await manual.advance(1_000);
  await next;
  expect(reserved).toHaveLength(2);
});

test('a request that is aborted does not wait for a reservation', async () => {
  const manual = createManualClock(start);
  const bucket = newBucket(1_000, manual);
  void bucket.take();
  void bucket.take();
  await manual.advance(0);
  const stop = new AbortController();
  const aborted = bucket.take(stop.signal);
  stop.abort(new Error('stop'));
  await expect(aborted).rejects.toThrow('stop');
  await manual.advance(2_000);
  expect(reserved).toHaveLength(2);
});

test('setInterval() applies from the next reservation on', async () => {
  const bucket = newBucket(100);
  for (let turn = 0; turn < 3; turn += 1) await bucket.take();
  bucket.setInterval(5_000);
  const times: number[] = [];
  for (let turn = 0; turn < 3; turn += 1) {
    await bucket.take();
    times.push(now - start);
  }
  expect(times).toEqual([300, 5_300, 10_300]);
  expect(reserved.slice(3)).toEqual(Array(3).fill({ slots: 1, intervalMs: 5_000 }));
});

test('take() rejects with the reason of an aborted signal', async () => {
  const bucket = newBucket(1000);
  const reason = new Error('stop');
  await bucket.take();
  await expect(bucket.take(AbortSignal.abort(reason))).rejects.toBe(reason);
});
