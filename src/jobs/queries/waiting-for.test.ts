import { afterEach, expect, test } from 'vitest';
import { type JobFixture, noon, openJobFixture } from '../../../test/support/jobs/jobs.ts';
import { parseWorkingHours } from '../../base/working-hours.ts';
import { batchKey } from '../../store/batches.ts';
import { releaseBatch } from '../../store/claims.ts';
import { aBatch, aJob, units } from '../../store/conformance/samples.ts';
import type { Job, JobState } from '../../store/documents.ts';
import { waitingFor } from './progress.ts';

const minuteMs = 60_000;
const closed = parseWorkingHours('13:00-14:00+08:00');
const untilOpen = 'working hours, next try 2030-01-07T05:00:00.000Z';
const open = parseWorkingHours('08:00-18:00+08:00');
let fixture: JobFixture;
afterEach(() => fixture.close());

/**
 * Creates a job of three batches: the first `putOff` are deferred, minutes apart, and the next
 * `queued` are queued.
 */
async function jobWith(
  putOff: number,
  queued: number,
  { workingHours = closed, state = 'processing' as JobState } = {},
): Promise<Job> {
  fixture = await openJobFixture({ workingHours });
  const { store } = fixture.context;
  const job = aJob({ state, totalBatches: 3, totalUnits: 3 });
  await store.jobs.create(
    job,
    [0, 1, 2].map((seq) => aBatch(job, seq, units(1))),
  );
  const references = await store.batches.queue(job.id, putOff, noon);
  for (const [place, reference] of references.entries()) {
    const key = batchKey(reference);
    const until = noon + (place + 1) * minuteMs;
    await store.batches.claim(key, 0, noon, until);
    const wait = { since: noon, until, reason: `mkta/id: paused ${place}`, tries: {}, failures: 0 };
    await releaseBatch(store, { ...key, attempt: 1 }, until, { wait });
  }
  if (queued > 0) await store.batches.queue(job.id, queued, noon);
  return job;
}

test.each([
  ['no batch is dispatched', 0, 0],
  ['some are dispatched', 0, 2],
  ['some are put off', 2, 0],
  ['some are dispatched or put off', 1, 1],
])('returns working hours outside of them while %s', async (_which, putOff, queued) => {
  const job = await jobWith(putOff, queued);
  expect(await waitingFor(fixture.context, job)).toBe(untilOpen);
});

test('does not return working hours if all batches were dispatched before', async () => {
  const job = await jobWith(0, 3);
  expect(await waitingFor(fixture.context, job)).toBeNull();
});

test('returns the earliest end of a wait outside working hours if all batches were dispatched or deferred', async () => {
  const job = await jobWith(2, 1);
  expect(await waitingFor(fixture.context, job)).toBe(
    'mkta/id: paused 0, next try 2030-01-07T04:01:00.000Z',
  );
});

test('counts done batches as dispatched', async () => {
  const job = await jobWith(0, 1);
  const counts = (success: number, failed: number) => ({
    units: { total: 3, success: 0, failed: 0 },
    batches: { total: 3, success, failed },
  });
  expect(await waitingFor(fixture.context, job, counts(1, 0))).toBe(untilOpen);
  expect(await waitingFor(fixture.context, job, counts(1, 1))).toBeNull();
});

test('returns the wait within working hours, even if batches are not dispatched', async () => {
  const job = await jobWith(1, 0, { workingHours: open });
  expect(await waitingFor(fixture.context, job)).toMatch(/^mkta\/id: paused 0, next try /);
});

test.each<[JobState, string | null]>([
  ['approved', untilOpen],
  ['awaiting_approval', null],
  ['settling', null],
  ['terminating', null],
  ['completed', null],
])('of a job that is %s returns %s', async (state, reason) => {
  const job = await jobWith(1, 0, { state });
  expect(await waitingFor(fixture.context, job)).toBe(reason);
});
