import { fromJson } from '@bufbuild/protobuf';
import { afterEach, beforeEach, expect, test } from 'vitest';
import {
  type JobFixture,
  openJobFixture,
  variantSoldRequest,
} from '../../../test/support/jobs/jobs.ts';
import { flushTasks } from '../../../test/support/time/clock.ts';
import { wrapMethods } from '../../store/wrap.ts';
import type { JobContext } from '../context.ts';
import { createJobChanges } from '../job-events.ts';
import { createReadView, type JobReadOptions } from './read.ts';

let fixture: JobFixture;
let user: string;

beforeEach(async () => {
  fixture = await openJobFixture({ approval: false });
  user = await fixture.createUser(10_000);
});
afterEach(() => fixture.close());

const submitted = async (items: number): Promise<string> =>
  (await fixture.submit(user, 'SubmitVariantSold', variantSoldRequest(items))).jobId;

/** Reads a job, and reports whether the response has arrived. */
function asked(
  jobId: string,
  options: Partial<JobReadOptions> = {},
  changes: Partial<JobContext> = {},
) {
  const method = fixture.context.jobTypes.methods.get(
    'gleaner.mkta.v1.MktaService.RetrieveVariantSold',
  )!;
  const responseHeaders: Record<string, string> = {};
  const { signal } = new AbortController();
  const whole = {
    userId: user,
    role: 'user' as const,
    waitMs: 0,
    ifNoneMatch: undefined,
    signal,
    responseHeaders,
    ...options,
  };
  const request = fromJson(method.method.input, { jobId });
  const state = { answered: false, status: '', tag: '', timing: '' };
  const read = createReadView({ ...fixture.context, ...changes });
  const response = read(method, request, whole).then((message) => {
    state.answered = true;
    state.status = (message as unknown as { status: string }).status;
    state.tag = responseHeaders.etag!;
    state.timing = responseHeaders['server-timing'] ?? '';
    return state;
  });
  return { response, state };
}

/** A store that counts its calls. */
function counted() {
  const counts: Record<string, number> = {};
  const store = wrapMethods(fixture.context.store, (name, method) => (...parameters) => {
    counts[name] = (counts[name] ?? 0) + 1;
    return method(...parameters);
  });
  return { store, counts };
}

test('ends early with the present state when its signal aborts', async () => {
  const jobId = await submitted(3);
  const early = new AbortController();
  const { response, state } = asked(jobId, { waitMs: 60_000, early: early.signal });
  await fixture.clock.advance(2_000);
  expect(state.answered).toBe(false);
  early.abort();
  expect(await response).toMatchObject({ status: 'processing' });
});

test('responds immediately without a wait, with the tag of the content', async () => {
  const jobId = await submitted(3);
  const first = await asked(jobId).response;
  expect(first).toMatchObject({ status: 'processing', timing: '' });
  expect(first.tag).toMatch(/^W\/"[\w-]{22}"$/);
  expect((await asked(jobId).response).tag).toBe(first.tag);
  await fixture.startWorker();
  await fixture.waitForState(jobId, 'completed');
  expect((await asked(jobId).response).tag).not.toBe(first.tag);
});

test('a tag is valid for at most a day, because the links in its response expire', async () => {
  const jobId = await submitted(3);
  await fixture.startWorker();
  await fixture.waitForState(jobId, 'completed');
  const { tag } = await asked(jobId).response;
  await fixture.clock.advance(3_600_000);
  expect((await asked(jobId).response).tag).toBe(tag);
  await fixture.clock.advance(23 * 3_600_000);
  expect((await asked(jobId).response).tag).not.toBe(tag);
});

test('a wait ends with the job, immediately if this process ends it', async () => {
  const jobId = await submitted(3);
  const { response, state } = asked(jobId, { waitMs: 60_000 });
  await flushTasks();
  expect(state.answered).toBe(false);
  const began = fixture.clock.now();
  await fixture.startWorker();
  expect((await response).status).toBe('completed');
  expect(fixture.clock.now() - began).toBe(0);
});

test('the end of a job in another process is noticed within a second', async () => {
  const jobId = await submitted(3);
  const elsewhere = { changes: createJobChanges(fixture.clock) };
  const { response, state } = asked(jobId, { waitMs: 60_000 }, elsewhere);
  await flushTasks();
  await fixture.startWorker();
  await fixture.waitForState(jobId, 'completed');
  await flushTasks();
  expect(state.answered).toBe(false);
  await fixture.clock.advance(1_000);
  expect((await response).status).toBe('completed');
});

test('an expired wait returns the current state; until then only the job is polled', async () => {
  const jobId = await submitted(3);
  const { store, counts } = counted();
  const { response, state } = asked(jobId, { waitMs: 30_000 }, { store });
  await fixture.eventually('it waits', async () => fixture.clock.sleepers() > 0);
  await fixture.clock.advance(29_000);
  expect([state.answered, counts['batches.find'] ?? 0, counts['batches.countJobs'] ?? 0]).toEqual([
    false,
    0,
    0,
  ]);
  expect(counts['jobs.get']).toBeLessThanOrEqual(31);
  await fixture.clock.advance(1_000);
  expect(await response).toMatchObject({ status: 'processing', timing: 'wait;dur=30000' });
  expect(counts['batches.find']).toBe(1);
});

test('any change ends a wait with a tag, and an outdated tag ends it immediately', async () => {
  const jobId = await submitted(60);
  const { tag } = await asked(jobId).response;
  const other = await asked(jobId, { waitMs: 60_000, ifNoneMatch: 'W/"another"' }).response;
  expect(other.tag).toBe(tag);
  const { response, state } = asked(jobId, { waitMs: 60_000, ifNoneMatch: `"x", ${tag}` });
  await fixture.eventually('it waits', async () => fixture.clock.sleepers() > 0);
  await fixture.clock.advance(10_000);
  expect(state.answered).toBe(false);
  const { store, clock } = fixture.context;
  await store.batches.fail(
    jobId,
    ['queued'],
    { status: 'FAILED', code: 'terminated', message: 'x' },
    clock.now(),
  );
  await fixture.clock.advance(1_000);
  const news = await response;
  expect(news.tag).not.toBe(tag);
  expect((await fixture.context.store.jobs.get(jobId))!.finishedAt).toBeNull();
});

test('a wait with a tag ends with the same tag if nothing changes', async () => {
  const jobId = await submitted(3);
  const { tag } = await asked(jobId).response;
  const { store, counts } = counted();
  const { response } = asked(jobId, { waitMs: 20_000, ifNoneMatch: tag }, { store });
  await fixture.eventually('it waits', async () => fixture.clock.sleepers() > 0);
  await fixture.clock.advance(20_000);
  expect((await response).tag).toBe(tag);
  expect(counts['batches.find']).toBe(2);
});

test('a caller that disconnects no longer waits', async () => {
  const jobId = await submitted(3);
  const abort = new AbortController();
  const { response, state } = asked(jobId, { waitMs: 60_000, signal: abort.signal });
  await fixture.eventually('it waits', async () => fixture.clock.sleepers() > 0);
  expect(state.answered).toBe(false);
  abort.abort();
  await response;
  expect(fixture.clock.sleepers()).toBe(0);
});

test('when the service stops, every waiting caller gets a response', async () => {
  const jobId = await submitted(3);
  const waiting = [asked(jobId, { waitMs: 60_000 }), asked(jobId, { waitMs: 60_000 })];
  await fixture.eventually('both wait', async () => fixture.clock.sleepers() === 2);
  fixture.context.changes.stop();
  for (const { response } of waiting) expect((await response).status).toBe('processing');
  expect((await asked(jobId, { waitMs: 60_000 }).response).status).toBe('processing');
  expect(fixture.clock.sleepers()).toBe(0);
});

test('a job that has ended is not waited for', async () => {
  const jobId = await submitted(3);
  await fixture.startWorker();
  await fixture.waitForState(jobId, 'completed');
  expect((await asked(jobId, { waitMs: 60_000 }).response).status).toBe('completed');
});
