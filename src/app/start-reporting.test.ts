import { afterEach, beforeEach, expect, test } from 'vitest';
import { type JobFixture, openJobFixture } from '../../test/support/jobs/jobs.ts';
import { flushTasks } from '../../test/support/time/clock.ts';
import { newId } from '../base/id.ts';
import type { JobContext } from '../jobs/context.ts';
import { aProcess } from '../store/conformance/samples.ts';
import { queueUnavailable } from '../store/operations.ts';
import { maintainForever } from './start-reporting.ts';

let fixture: JobFixture;
let stopping: AbortController;
let sweeps: string[];
beforeEach(async () => {
  fixture = await openJobFixture();
  stopping = new AbortController();
  sweeps = [];
});
afterEach(async () => {
  stopping.abort();
  await fixture.close();
});

/** Stores the heartbeat of a process. */
const report = (id: string, startedAt: number, paused = '') =>
  fixture.context.store.processes.upsert([
    { ...aProcess({ startedAt, seenAt: fixture.clock.now(), paused }), id },
  ]);

/** Starts the upkeep of a process, whose sweeps are recorded. */
function maintain(id: string, processId: string | null = id): void {
  const { store } = fixture.context;
  const ping: JobContext['store']['ping'] = async () => {
    sweeps.push(id);
    return store.ping();
  };
  void maintainForever(
    { ...fixture.context, store: { ...store, ping } },
    processId,
    stopping.signal,
  );
}

/** Returns the processes that sweep while `ms` pass. */
async function sweepersWithin(ms: number): Promise<Set<string>> {
  sweeps = [];
  for (let passed = 0; passed < ms; passed += 1_000) {
    await fixture.clock.advance(1_000);
    await flushTasks();
  }
  return new Set(sweeps);
}

test('a process without heartbeats of others sweeps', async () => {
  maintain('only');
  expect(await sweepersWithin(6_000)).toEqual(new Set(['only']));
});

test('the only process of a store does not wait for the heartbeats of one that was killed', async () => {
  await report(newId(), fixture.clock.now() - 1_000);
  maintain('only', null);
  expect(await sweepersWithin(6_000)).toEqual(new Set(['only']));
});

test('sweeps in all processes, and in those that are left when heartbeats end', async () => {
  const [first, second] = [newId(), newId()];
  const begin = fixture.clock.now();
  await report(second, begin - 1_000);
  await report(first, begin - 2_000);
  maintain(second);
  maintain(first);
  expect(await sweepersWithin(10_000)).toEqual(new Set([first, second]));
  await report(second, begin - 1_000);
  await sweepersWithin(6_000);
  expect(await sweepersWithin(6_000)).toEqual(new Set([second]));
});

test('does not sweep in a process that does not reach the queue while another does', async () => {
  const [first, second] = [newId(), newId()];
  const begin = fixture.clock.now();
  await report(first, begin - 2_000, queueUnavailable);
  await report(second, begin - 1_000);
  maintain(first);
  maintain(second);
  expect(await sweepersWithin(10_000)).toEqual(new Set([second]));
  await report(first, begin - 2_000);
  await report(second, begin - 1_000);
  expect(await sweepersWithin(10_000)).toContain(first);
});
