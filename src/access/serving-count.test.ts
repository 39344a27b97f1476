import { beforeEach, expect, test } from 'vitest';
import { createManualClock, flushTasks } from '../../test/support/clock.ts';
import { createLog } from '../base/log.ts';
import { Fault } from '../contract/fault.ts';
import type { ProcessReport } from '../store/operations.ts';
import { openSqliteStore } from '../store/sqlite/open.ts';
import type { Store } from '../store/store.ts';
import { createServingCount } from './serving-count.ts';

const log = createLog('silent', 'test');
const clock = createManualClock(Date.UTC(2030, 0, 7));

let store: Store;
beforeEach(() => {
  store = openSqliteStore({ path: ':memory:' });
  return () => store.close();
});

const report = (id: string, role: string) => {
  const now = clock.now();
  const about: ProcessReport = {
    id,
    role,
    host: 'one',
    pid: 1,
    version: '1',
    startedAt: now,
    seenAt: now,
    memoryBytes: 1,
    workers: 0,
    batches: 0,
    paused: '',
    clockSkewMs: 0,
    unitsDone: 0,
  };
  return store.putProcess(about);
};

test('counts the live processes that serve the core, and keeps the count while the store is unavailable', async () => {
  let away = false;
  const listProcesses = (since: number) =>
    away ? Promise.reject(new Fault('unavailable', 'away')) : store.listProcesses(since);
  const stopping = new AbortController();
  const serving = createServingCount({ store: { listProcesses }, clock, log });
  expect(serving.current()).toBe(1);
  for (const [id, role] of Object.entries({ a: 'serve', b: 'api', c: 'core', d: 'worker', e: 'gateway' }))
    await report(id, role);
  const following = serving.follow(stopping.signal);
  await flushTasks();
  expect(serving.current()).toBe(3);
  await store.deleteProcess('c');
  await clock.advance(10_000);
  expect(serving.current()).toBe(2);
  away = true;
  await clock.advance(10_000);
  expect(serving.current()).toBe(2);
  away = false;
  await report('b', 'api');
  await clock.advance(20_000);
  expect(serving.current()).toBe(1);
  await clock.advance(60_000);
  expect(serving.current()).toBe(1);
  stopping.abort();
  await following;
});
