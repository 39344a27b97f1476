import { beforeEach, expect, test } from 'vitest';
import { noPause, type OriginPause } from '../store/origin-state.ts';
import { createTurns, type Turns } from './slots.ts';

const start = 1_000_000;
let now: number;
let free: number;
let reserved: { slots: number; intervalMs: number }[];
let learnt: OriginPause[];

const clock = {
  now: () => now,
  sleep: async (ms: number, signal?: AbortSignal) => {
    signal?.throwIfAborted();
    now += ms;
  },
};

function turnsOf(intervalMs: number): Turns {
  return createTurns({
    origin: 'http://origin.example',
    intervalMs,
    reserve: async (_origin, slots, interval, at) => {
      reserved.push({ slots, intervalMs: interval });
      const first = Math.max(free, at);
      free = first + slots * interval;
      return { first, pause: noPause };
    },
    learn: (pause) => learnt.push(pause),
    clock,
  });
}

beforeEach(() => {
  now = start;
  free = 0;
  reserved = [];
  learnt = [];
});

test('turns are the interval apart, and reserved in growing chunks of at most a second', async () => {
  const turns = turnsOf(100);
  const times: number[] = [];
  for (let turn = 0; turn < 30; turn += 1) {
    await turns.take();
    times.push(now);
  }
  expect(times.map((time) => time - start)).toEqual(Array.from({ length: 30 }, (_, turn) => turn * 100));
  expect(reserved.map(({ slots }) => slots)).toEqual([1, 2, 4, 8, 10, 10]);
  expect(learnt).toHaveLength(6);
});

test('turns that were missed are not made up for', async () => {
  const turns = turnsOf(100);
  for (let turn = 0; turn < 4; turn += 1) await turns.take();
  now += 60_000;
  const before = reserved.length;
  await turns.take();
  const first = now;
  await turns.take();
  expect(now - first).toBeGreaterThanOrEqual(100);
  expect(reserved[before]).toMatchObject({ slots: 2 });
});

test('turns asked for at once share one reservation after the other', async () => {
  const turns = turnsOf(10);
  await Promise.all(Array.from({ length: 7 }, () => turns.take()));
  expect(reserved.map(({ slots }) => slots)).toEqual([1, 2, 4]);
});

test('turns come further apart once the origin asks for it', async () => {
  const turns = turnsOf(100);
  for (let turn = 0; turn < 3; turn += 1) await turns.take();
  turns.space(5_000);
  const times: number[] = [];
  for (let turn = 0; turn < 3; turn += 1) {
    await turns.take();
    times.push(now - start);
  }
  expect(times).toEqual([300, 5_300, 10_300]);
  expect(reserved.slice(2)).toEqual(Array(3).fill({ slots: 1, intervalMs: 5_000 }));
});

test('a turn rejects with the reason when aborted', async () => {
  const turns = turnsOf(1000);
  const reason = new Error('stop');
  await turns.take();
  await expect(turns.take(AbortSignal.abort(reason))).rejects.toBe(reason);
});
