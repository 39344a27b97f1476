import { fromJson, type Message } from '@bufbuild/protobuf';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { type JobFixture, openJobFixture } from '../../../test/support/jobs/jobs.ts';
import type { Job } from '../../store/documents.ts';
import { finishTerminating, stopRunning, terminate } from './decide.ts';

const credits = 1_000;

let fixture: JobFixture;
let userId: string;
beforeEach(async () => {
  fixture = await openJobFixture();
  userId = await fixture.createUser(credits);
});
afterEach(() => fixture.close());

async function submitted(): Promise<Job> {
  const csv = ['region,shop_id,item_id', 'sg,77,1', 'sg,77,2'].join('\n');
  const { taskId } = await fixture.submit(userId, 'SubmitGetPcBulk', {
    file: Buffer.from(csv).toString('base64'),
    resultFormat: 'jsonl',
  });
  return (await fixture.context.store.jobs.find({ number: taskId }))[0]!;
}

/** Terminates a task as its service does. */
function terminated(job: Job, by = userId): Promise<Message> {
  const method = fixture.context.jobTypes.methods.get(
    'gleaner.mkta.v1.MktaService.TerminateGetPcBulk',
  )!;
  return terminate(fixture.context, method, fromJson(method.method.input, { taskId: job.number }), {
    userId: by,
    role: 'user',
  });
}

test('a terminated task ends, and all outstanding units are refunded', async () => {
  const job = await submitted();
  expect(await fixture.balance(userId)).toBe(credits - 16);
  await terminated(job);
  const ended = await fixture.context.store.jobs.get(job.id);
  expect(ended).toMatchObject({ state: 'terminated', refunded: 16, reason: '' });
  expect(await fixture.balance(userId)).toBe(credits);
  const [batch] = await Array.fromAsync(fixture.context.store.batches.read(job.id));
  expect(batch!.outcomes[0]).toEqual({
    status: 'FAILED',
    code: 'terminated',
    message: 'The task was terminated before this item was done.',
  });
  expect(await fixture.problems()).toEqual([]);
});

test('returns conflict for a task that has ended or is ending', async () => {
  const job = await submitted();
  await terminated(job);
  await expect(terminated(job)).rejects.toMatchObject({
    code: 'conflict',
    message: 'The task is terminated.',
  });
  const other = await submitted();
  await fixture.context.store.jobs.move(
    other.id,
    ['processing'],
    'settling',
    fixture.context.clock.now(),
  );
  await expect(terminated(other)).rejects.toMatchObject({
    code: 'conflict',
    message: 'The task is ending.',
  });
});

test('returns not_found for another user’s task', async () => {
  const job = await submitted();
  await expect(terminated(job, await fixture.createUser(0))).rejects.toMatchObject({
    code: 'not_found',
  });
  expect((await fixture.context.store.jobs.get(job.id))?.state).toBe('processing');
});

test('stopRunning() keeps the reason, and returns null for a job that is not running', async () => {
  const job = await submitted();
  const reason = 'The shop asked for it.';
  expect(await stopRunning(fixture.context, job.id, reason)).toMatchObject({
    state: 'terminated',
    reason,
  });
  expect(await stopRunning(fixture.context, job.id, '')).toBeNull();
});

test('an interrupted termination is completed later, including claimed batches', async () => {
  const job = await submitted();
  const { store, clock } = fixture.context;
  const [batch] = await store.batches.find({ jobId: job.id });
  await store.batches.claim(batch!, 0, clock.now(), clock.now() + 60_000);
  const stopping = await store.jobs.move(job.id, ['processing'], 'terminating', clock.now());
  await finishTerminating(fixture.context, stopping!);
  expect(await store.jobs.get(job.id)).toMatchObject({ state: 'terminated', refunded: 16 });
});
