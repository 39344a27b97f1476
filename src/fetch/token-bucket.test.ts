import { beforeEach, expect, test } from 'vitest';
import { noPause, type OriginPause } from '../store/origin-state.ts';
import { TokenBucket } from './token-bucket.ts';

const start = 1_000_000;
let now: number;
let free: number;
let reserved: { slots: number; intervalMs: number }[];
let pauses: OriginPause[];

const clock = {
  now: () => now,
  steady: () => now,
  sleep: async (ms: number, signal?: AbortSignal) => {
    signal?.throwIfAborted();
    now += ms;
  },
};

function newBucket(intervalMs: number): TokenBucket {
  return new TokenBucket({
    origin: 'http://origin.example',
    intervalMs,
    reserve: async (_origin, slots, interval, at) => {
      reserved.push({ slots, intervalMs: interval });
      const first = Math.max(free, at);
      free = first + slots * interval;
      return { first, pause: noPause };
    },
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

test('take() resolves one interval apart, with slots reserved in growing chunks of up to one second', async () => {
  const bucket = newBucket(100);
  const times: number[] = [];
  for (let turn = 0; turn < 30; turn += 1) {
    await bucket.take();
    times.push(now);
  }
  expect(times.map((time) => time - start)).toEqual(Array.from({ length: 30 }, (_, turn) => turn * 100));
  expect(reserved.map(({ slots }) => slots)).toEqual([1, 2, 4, 8, 10, 10]);
  expect(pauses).toHaveLength(6);
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
  expect(reserved[before]).toMatchObject({ slots: 2 });
});

test('take() shares reservations between concurrent calls', async () => {
  const bucket = newBucket(10);
  await Promise.all(Array.from({ length: 7 }, () => bucket.take()));
  expect(reserved.map(({ slots }) => slots)).toEqual([1, 2, 4]);
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
  expect(reserved.slice(2)).toEqual(Array(3).fill({ slots: 1, intervalMs: 5_000 }));
});

test('take() rejects with the reason of an aborted signal', async () => {
  const bucket = newBucket(1000);
  const reason = new Error('stop');
  await bucket.take();
  await expect(bucket.take(AbortSignal.abort(reason))).rejects.toBe(reason);
});
