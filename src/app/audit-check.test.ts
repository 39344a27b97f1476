import { beforeEach, expect, test } from 'vitest';
import { createManualClock, flushTasks, type ManualClock } from '../../test/support/time/clock.ts';
import { createLog } from '../base/log.ts';
import { Fault } from '../contract/fault.ts';
import type { Audit } from '../jobs/queries/audit.ts';
import { aProcess } from '../store/conformance/samples.ts';
import { openSqliteStore } from '../store/sqlite/open.ts';
import type { Store } from '../store/store.ts';
import { type AuditCheck, createAuditCheck } from './audit-check.ts';

const intervalMs = 3_600_000;
const start = Date.UTC(2030, 0, 7);

let store: Store;
let clock: ManualClock;
let stopping: AbortController;
beforeEach(() => {
  store = openSqliteStore({ path: ':memory:' });
  clock = createManualClock(start);
  stopping = new AbortController();
  return async () => {
    stopping.abort();
    await store.close();
  };
});

const heartbeat = (id: string, role: string, startedAt: number) =>
  store.processes.upsert([aProcess({ id, role, startedAt, seenAt: clock.now() })]);

const values = async ({ gauges }: AuditCheck) =>
  (await gauges.gleaner_audit_disagreements!()).map(({ value }) => value);

/**
 * Starts the check of a process. `results` are the outcomes of its audits: the number of problems,
 * or a fault.
 */
function startCheck(processId: string, results: (number | Fault)[], exported = Promise.resolve()) {
  const audits: number[] = [];
  const check = createAuditCheck({
    store,
    clock,
    log: createLog('silent', 'test'),
    processId,
    intervalMs,
    exported,
    async audit(): Promise<Audit> {
      audits.push(clock.now() - start);
      const result = results.shift()!;
      if (result instanceof Fault) throw result;
      return {
        accounts: 1,
        entries: 1,
        jobs: 1,
        deletedJobs: 0,
        problems: Array.from({ length: result }, () => 'wrong'),
      };
    },
  });
  const following = check.follow(stopping.signal);
  return { check, audits, following };
}

test('audits at the start and once per interval, and exports the last result', async () => {
  await heartbeat('a', 'serve', start);
  const { check, audits, following } = startCheck('a', [0, 2]);
  expect(await values(check)).toEqual([]);
  await flushTasks();
  expect(await values(check)).toEqual([0]);
  for (let waited = 0; waited < intervalMs; waited += 10_000) {
    await heartbeat('a', 'serve', start);
    await clock.advance(10_000);
  }
  expect(await values(check)).toEqual([2]);
  expect(audits).toEqual([0, intervalMs]);
  stopping.abort();
  await following;
});

test('keeps the last result while an audit fails, and repeats it after ten minutes', async () => {
  await heartbeat('a', 'serve', start);
  const { check, audits } = startCheck('a', [new Fault('unavailable', 'no memory'), 0]);
  await flushTasks();
  expect(await values(check)).toEqual([]);
  for (let waited = 0; waited < 600_000; waited += 10_000) {
    await heartbeat('a', 'serve', start);
    await clock.advance(10_000);
  }
  expect(audits).toEqual([0, 600_000]);
  expect(await values(check)).toEqual([0]);
});

test('only the serving process that started first audits; another takes over when it has ended', async () => {
  await heartbeat('worker', 'worker', start - 2_000);
  await heartbeat('b', 'api', start - 1_000);
  await heartbeat('a', 'api', start);
  const first = startCheck('b', [1]);
  const second = startCheck('a', [1]);
  await flushTasks();
  expect([first.audits.length, second.audits.length]).toEqual([1, 0]);
  expect(await values(second.check)).toEqual([]);
  await store.processes.remove({ id: 'b' });
  await clock.advance(10_000);
  expect(await values(first.check)).toEqual([]);
  expect(await values(second.check)).toEqual([1]);
});

test('audits nothing until metrics are exported', async () => {
  await heartbeat('a', 'serve', start);
  const exported = Promise.withResolvers<void>();
  const { check, audits, following } = startCheck('a', [0], exported.promise);
  await flushTasks();
  await clock.advance(20_000);
  expect(audits).toEqual([]);
  exported.resolve();
  await flushTasks();
  expect(audits).toEqual([20_000]);
  expect(await values(check)).toEqual([0]);
  stopping.abort();
  await following;
});

test('a process that stops before metrics are exported audits nothing', async () => {
  const { audits, following } = startCheck('a', [], Promise.withResolvers<void>().promise);
  stopping.abort();
  await following;
  expect(audits).toEqual([]);
});
