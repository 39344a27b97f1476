import { expect, test } from 'vitest';
import { createManualClock, flushTasks } from '../../test/support/time/clock.ts';
import { createReceiverQueues, type ReceiverQueues } from './receiver-queues.ts';

/** Receiver queues on a manual clock with deliveries that the test completes. */
function open() {
  const clock = createManualClock(1_000_000);
  const queues: ReceiverQueues = createReceiverQueues(clock, async () => () => {});
  const started: string[] = [];
  const postponed: [name: string, ms: number][] = [];
  const pending = new Map<string, (accepted: boolean) => void>();
  return {
    clock,
    queues,
    started,
    postponed,
    async add(receiver: string, name: string) {
      await queues.add(receiver, {
        run: () => {
          started.push(name);
          return new Promise<boolean>((resolve) => pending.set(name, resolve));
        },
        postpone: async (ms) => void postponed.push([name, ms]),
      });
      await flushTasks();
    },
    async complete(name: string, afterMs: number, accepted: boolean) {
      await clock.advance(afterMs);
      pending.get(name)!(accepted);
      await flushTasks();
    },
  };
}

test('runs four deliveries per receiver concurrently and does not delay other receivers', async () => {
  const { queues, started, postponed, add, complete } = open();
  for (const name of ['a', 'b', 'c', 'd', 'e', 'f']) await add('slow', name);
  await add('other', 'x');
  expect(started).toEqual(['a', 'b', 'c', 'd', 'x']);
  expect(queues.held()).toBe(7);
  await complete('b', 10, true);
  expect(started.at(-1)).toBe('e');
  for (const name of ['a', 'c', 'd', 'e', 'f', 'x']) await complete(name, 10, true);
  await queues.idle();
  expect(started).toHaveLength(7);
  expect(postponed).toEqual([]);
  expect(queues.held()).toBe(0);
});

test('postpones queued deliveries after a failure and runs one at a time until one succeeds', async () => {
  const { started, postponed, add, complete } = open();
  for (const name of ['a', 'b', 'c', 'd', 'e']) await add('down', name);
  await complete('a', 10_000, false);
  expect(postponed).toEqual([['e', 10_000]]);
  for (const name of ['b', 'c', 'd']) await complete(name, 0, false);
  await add('down', 'f');
  await add('down', 'g');
  expect(started).toEqual(['a', 'b', 'c', 'd', 'f']);
  expect(postponed.at(-1)![0]).toBe('g');
  await complete('f', 10, true);
  for (const name of ['h', 'i', 'j', 'k']) await add('down', name);
  expect(started.slice(-4)).toEqual(['h', 'i', 'j', 'k']);
});

test('spreads postponed deliveries over at most ten minutes', async () => {
  const { postponed, add, complete } = open();
  await add('down', 'a');
  await complete('a', 10_000, false);
  await add('down', 'b');
  for (let index = 0; index < 100; index++) await add('down', `${index}`);
  const delays = postponed.map(([, ms]) => ms);
  expect(delays.slice(0, 3)).toEqual([10_000, 20_000, 30_000]);
  expect(Math.max(...delays)).toBe(600_000);
});

test('postpones a delivery whose expected wait exceeds five seconds', async () => {
  const { postponed, add, complete } = open();
  for (const name of ['a', 'b']) await add('slow', name);
  await complete('a', 8_000, true);
  for (const name of ['c', 'd', 'e', 'f', 'g', 'h']) await add('slow', name);
  // At eight seconds per four deliveries, two more start within five seconds.
  expect(postponed.map(([name]) => name)).toEqual(['h']);
});

test('clear() postpones queued deliveries', async () => {
  const { queues, postponed, add, complete } = open();
  for (const name of ['a', 'b', 'c', 'd', 'e', 'f']) await add('slow', name);
  await queues.clear();
  expect(postponed).toEqual([
    ['e', 0],
    ['f', 0],
  ]);
  for (const name of ['a', 'b', 'c', 'd']) await complete(name, 0, true);
  expect(queues.held()).toBe(0);
});

test('forgets a receiver that failed once it had no deliveries for ten minutes', async () => {
  const { clock, queues, add, complete } = open();
  await add('gone', 'a');
  await complete('a', 10, false);
  expect(queues.receivers()).toBe(1);
  await clock.advance(5 * 60_000);
  await add('other', 'x');
  expect(queues.receivers()).toBe(2);
  await complete('x', 10, true);
  await clock.advance(10 * 60_000);
  await add('third', 'y');
  expect(queues.receivers()).toBe(1);
});
