import { beforeEach, expect, test } from 'vitest';
import { createManualClock, flushTasks, type ManualClock } from '../../test/support/time/clock.ts';
import { createLog } from '../base/log.ts';
import { Fault } from '../contract/fault.ts';
import { openSqliteStore } from '../store/sqlite/open.ts';
import type { Store } from '../store/store.ts';
import { replaceMethods, type StoreMethods } from '../store/wrap.ts';
import { reportForever } from './report.ts';
import { createRequestCounter, type RequestCounter } from './request-counter.ts';

const start = Date.UTC(2030, 0, 7);
const about = {
  id: 'p1',
  role: 'worker',
  host: 'one.example',
  pid: 77,
  version: '1.2.3',
  startedAt: start,
};
const sg = { origin: 'https://sg.example', market: 'mkta', region: 'sg' };

let store: Store;
let clock: ManualClock;
let requestCounter: RequestCounter;
let stopping: AbortController;
let state: {
  memoryBytes: number;
  workers: number;
  batches: number;
  unitsDone: number;
  paused: string;
  clockSkewMs: number;
};
beforeEach(() => {
  store = openSqliteStore({ path: ':memory:' });
  clock = createManualClock(start);
  requestCounter = createRequestCounter(clock);
  stopping = new AbortController();
  state = { memoryBytes: 1_000, workers: 2, batches: 0, unitsDone: 0, paused: '', clockSkewMs: 0 };
  return () => store.close();
});

async function begin(over: StoreMethods = {}): Promise<{ ended: Promise<void> }> {
  const options = {
    store: replaceMethods(store, over),
    clock,
    log: createLog('silent', 'test'),
    about,
    requestCounter,
  };
  const ended = reportForever({ ...options, state: async () => state }, 10_000, stopping.signal);
  await flushTasks();
  return { ended };
}

test('reports the process at once and every ten seconds, and deletes its record at the end', async () => {
  const { ended } = await begin();
  expect(await store.processes.find({ seenAt: { atLeast: 0 } })).toEqual([
    { ...about, ...state, seenAt: start },
  ]);
  state = {
    memoryBytes: 2_000,
    workers: 2,
    batches: 3,
    unitsDone: 40,
    paused: 'disk almost full',
    clockSkewMs: -2,
  };
  await clock.advance(9_999);
  expect((await store.processes.find({ seenAt: { atLeast: 0 } }))[0]?.unitsDone).toBe(0);
  await clock.advance(1);
  expect(await store.processes.find({ seenAt: { atLeast: 0 } })).toEqual([
    { ...about, ...state, seenAt: start + 10_000 },
  ]);
  stopping.abort();
  await ended;
  expect(await store.processes.find({ seenAt: { atLeast: 0 } })).toEqual([]);
});

test('stores origin counts every ten seconds and at the end', async () => {
  const { ended } = await begin();
  requestCounter.ended(sg, 100);
  expect(await store.originMinutes.find({ minute: { atLeast: 0 } })).toEqual([]);
  await clock.advance(10_000);
  const row = { ...sg, minute: start, requests: 1, refused: 0, failed: 0, milliseconds: 100 };
  expect(await store.originMinutes.find({ minute: { atLeast: 0 } })).toEqual([row]);
  requestCounter.ended(sg, 50);
  requestCounter.classified(sg, 'refused');
  stopping.abort();
  await ended;
  expect(await store.originMinutes.find({ minute: { atLeast: 0 } })).toEqual([
    { ...row, requests: 2, refused: 1, milliseconds: 150 },
  ]);
});

test('keeps counts while the store is unavailable, and ends without it', async () => {
  let isAvailable = false;
  const guarded = async <T>(call: () => Promise<T>): Promise<T> => {
    if (!isAvailable) throw new Fault('unavailable', 'The store is unavailable.');
    return call();
  };
  const { ended } = await begin({
    originMinutes: { accumulate: (rows) => guarded(() => store.originMinutes.accumulate(rows)) },
    processes: { remove: (where) => guarded(() => store.processes.remove(where)) },
  });
  requestCounter.ended(sg, 100);
  await clock.advance(10_000);
  requestCounter.ended(sg, 30);
  await clock.advance(10_000);
  isAvailable = true;
  await clock.advance(10_000);
  expect(await store.originMinutes.find({ minute: { atLeast: 0 } })).toMatchObject([
    { requests: 2, milliseconds: 130 },
  ]);
  isAvailable = false;
  stopping.abort();
  await ended;
  expect(await store.processes.find({ seenAt: { atLeast: 0 } })).toHaveLength(1);
});
