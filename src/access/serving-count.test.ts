import { beforeEach, expect, test } from 'vitest';
import { createManualClock, flushTasks } from '../../test/support/time/clock.ts';
import { createLog } from '../base/log.ts';
import { Fault } from '../contract/fault.ts';
import { aProcess } from '../store/conformance/samples.ts';
import { openSqliteStore } from '../store/sqlite/open.ts';
import type { Store } from '../store/store.ts';
import { replaceMethods } from '../store/wrap.ts';
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
  return store.processes.upsert([aProcess({ id, role, startedAt: now, seenAt: now })]);
};

test('counts the live processes that serve the core, and keeps the count while the store is unavailable', async () => {
  let away = false;
  const find: typeof store.processes.find = async (...query) => {
    if (away) throw new Fault('unavailable', 'away');
    return store.processes.find(...query);
  };
  const shaky = replaceMethods(store, { processes: { find } });
  const stopping = new AbortController();
  const serving = createServingCount({ store: shaky, clock, log });
  expect(serving.current()).toBe(1);
  for (const [id, role] of Object.entries({
    a: 'serve',
    b: 'api',
    c: 'core',
    d: 'worker',
    e: 'gateway',
  }))
    await report(id, role);
  const following = serving.follow(stopping.signal);
  await flushTasks();
  expect(serving.current()).toBe(3);
  await store.processes.remove({ id: 'c' });
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
