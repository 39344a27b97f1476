import { getEventListeners } from 'node:events';
import { beforeEach, expect, test } from 'vitest';
import { contextWith } from '../../../test/support/jobs/context.ts';
import {
  createManualClock,
  flushTasks,
  type ManualClock,
} from '../../../test/support/time/clock.ts';
import { Fault } from '../../contract/fault.ts';
import { createJobChanges, type JobChanges } from '../job-events.ts';
import { createWatch } from './watch.ts';

let clock: ManualClock;
let changes: JobChanges;
let looks: number;
let count: number;
let ended: boolean;
let fault: Fault | null;
let watch: ReturnType<typeof createWatch<number>>;
beforeEach(() => {
  clock = createManualClock(0);
  changes = createJobChanges(clock);
  looks = 0;
  count = 0;
  ended = false;
  fault = null;
  watch = createWatch<number>(contextWith({ changes, clock }), async () => {
    looks += 1;
    if (fault) throw fault;
    return { value: count, mark: String(count), ended };
  });
});

/** Collects every state of a watch until it ends. */
function reading(signal = new AbortController().signal) {
  const seen: number[] = [];
  const run = async () => {
    for await (const value of watch('j', signal)) seen.push(value);
  };
  const end = run().then(
    () => 'ended',
    (error) => Fault.from(error).code,
  );
  return { seen, end };
}

test('yields the job at once, after each change, and finally at its end', async () => {
  const { seen, end } = reading();
  await flushTasks();
  expect(seen).toEqual([0]);
  await clock.advance(3_000);
  expect(seen).toEqual([0]);
  count = 2;
  await clock.advance(1_000);
  expect(seen).toEqual([0, 2]);
  count = 3;
  ended = true;
  await clock.advance(1_000);
  expect(await end).toBe('ended');
  expect(seen).toEqual([0, 2, 3]);
  const before = looks;
  await clock.advance(10_000);
  expect(looks).toBe(before);
});

test('yields a job that has ended once', async () => {
  ended = true;
  const { seen, end } = reading();
  expect(await end).toBe('ended');
  expect(seen).toEqual([0]);
  expect(clock.sleepers()).toBe(0);
});

test('notices changes by this process without polling', async () => {
  const { seen } = reading();
  await flushTasks();
  count = 1;
  changes.notify('j');
  await flushTasks();
  expect(seen).toEqual([0, 1]);
});

test('polls the store once a second, however many watchers there are', async () => {
  const all = Array.from({ length: 20 }, () => reading());
  await flushTasks();
  expect(looks).toBe(1);
  count = 1;
  await clock.advance(5_000);
  expect(looks).toBe(6);
  for (const { seen } of all) expect(seen).toEqual([0, 1]);
});

test('a watcher that leaves does not affect others, and polling ends with the last one', async () => {
  const first = new AbortController();
  const second = new AbortController();
  const [one, other] = [reading(first.signal), reading(second.signal)];
  await flushTasks();
  first.abort(new Fault('unavailable', 'The deadline has passed.'));
  expect(await one.end).toBe('unavailable');
  count = 1;
  await clock.advance(1_000);
  expect(other.seen).toEqual([0, 1]);
  second.abort(new Fault('unavailable', 'The deadline has passed.'));
  expect(await other.end).toBe('unavailable');
  await flushTasks();
  expect(clock.sleepers()).toBe(0);
  const before = looks;
  await clock.advance(5_000);
  expect(looks).toBe(before);
  reading();
  await flushTasks();
  expect(looks).toBe(before + 1);
});

test('yields only the latest state to a slow consumer', async () => {
  const values = watch('j', new AbortController().signal);
  expect((await values.next()).value).toBe(0);
  for (count = 1; count < 4; count += 1) await clock.advance(1_000);
  count = 3;
  expect((await values.next()).value).toBe(3);
  await values.return(undefined);
  await flushTasks();
  expect(clock.sleepers()).toBe(0);
});

test('ends with a fault of the store, and when the service stops', async () => {
  const first = reading();
  await flushTasks();
  fault = new Fault('unavailable', 'The store is away.');
  await clock.advance(1_000);
  expect(await first.end).toBe('unavailable');
  fault = null;
  const second = reading();
  await flushTasks();
  expect(second.seen).toEqual([0]);
  changes.stop();
  expect(await second.end).toBe('unavailable');
});

test('starts a new poll after a fault, shared by later watchers, while a slow watcher has not read the fault', async () => {
  const slow = watch('j', new AbortController().signal);
  await slow.next();
  fault = new Fault('unavailable', 'The store is away.');
  await clock.advance(1_000);
  fault = null;
  const second = reading();
  await flushTasks();
  expect(second.seen).toEqual([0]);
  await expect(slow.next()).rejects.toThrow('The store is away.');
  const before = looks;
  const third = reading();
  await flushTasks();
  expect(third.seen).toEqual([0]);
  expect(looks).toBe(before);
});

test('ends the poll with the job, even if a slow watcher has not read the end', async () => {
  const slow = watch('j', new AbortController().signal);
  await slow.next();
  count = 1;
  ended = true;
  await clock.advance(1_000);
  const before = looks;
  await clock.advance(5_000);
  expect(looks).toBe(before);
  expect(await slow.next()).toEqual({ value: 1, done: false });
  expect((await slow.next()).done).toBe(true);
});

test('leaves no listener on the signal of its caller', async () => {
  ended = true;
  const { signal } = new AbortController();
  await reading(signal).end;
  expect(getEventListeners(signal, 'abort')).toEqual([]);
});
