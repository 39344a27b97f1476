import { afterEach, expect, test } from 'vitest';
import { type NoticesBench, type NoticesOptions, openNotices } from '../../test/support/notices.ts';
import { newId } from '../base/id.ts';
import { approve, reject } from '../jobs/decide.ts';

const hour = 3_600_000;
const operatorId = newId();
let bench: NoticesBench;
afterEach(() => bench.close());
const open = async (options: NoticesOptions = {}) => {
  bench = await openNotices(options);
};

test('a user is told once of a job that has ended, with what came of it, signed', async () => {
  await open();
  const { userId, webhook } = await bench.createUser();
  const jobId = await bench.endedJob(userId);
  await bench.tell();
  await bench.tell();
  expect(bench.receiver.received).toHaveLength(1);
  const [message] = bench.receiver.received;
  expect(message!.headers['content-type']).toBe('application/json');
  const job = (await bench.context.store.getJob(jobId))!;
  expect(bench.verified(message!, webhook.secret)).toEqual({
    type: 'job.ended',
    timestamp: new Date(job.finishedAt!).toISOString(),
    data: {
      job_id: jobId,
      task_id: null,
      kind: 'variant_sold',
      market: 'mkta',
      region: 'sg',
      status: job.state,
      total: 3,
      success: 2,
      failed: 1,
      cost: job.cost,
      refunded: job.unitPrice,
      reason: '',
      created_at: new Date(job.createdAt).toISOString(),
      finished_at: new Date(job.finishedAt!).toISOString(),
      retrieve_path: `/v1/variant_sold/${jobId}`,
    },
  });
  expect(await bench.deliveries()).toMatchObject([
    {
      id: message!.headers['webhook-id'],
      key: `job.ended:${jobId}:webhook`,
      userId,
      jobId,
      body: message!.body,
      state: 'delivered',
      attempts: 1,
      responseStatus: 204,
      error: '',
      nextAttemptAt: null,
    },
  ]);
  expect(job.noticeDue).toBeNull();
});

test('a user without a webhook, or with one that is off, is told nothing, and nothing is left due', async () => {
  await open();
  const { userId, webhook } = await bench.createUser();
  await bench.context.store.putWebhook({ ...webhook, enabled: false, revision: 2 });
  const other = await bench.jobs.createUser(100);
  await bench.endedJob(userId);
  await bench.endedJob(other);
  await bench.tell();
  expect(await bench.deliveries()).toEqual([]);
  expect(await bench.context.store.findNoticeDue(bench.jobs.clock.now(), 10)).toEqual([]);
});

test('operators are told of a job that waits, and again two hours before its time is over; its user of its end', async () => {
  await open({ operators: true, approval: true });
  const { userId, webhook } = await bench.createUser(50);
  const jobId = await bench.submittedJob(userId);
  const { secret } = bench.context.settings.operatorWebhook!;
  await bench.tell();
  const [first] = bench.receiver.received;
  expect(first!.path).toBe('/hook/operators');
  const decideBy = new Date(bench.jobs.clock.now() + 24 * hour).toISOString();
  expect(bench.verified(first!, secret)).toMatchObject({
    type: 'job.awaiting_approval',
    data: {
      job_id: jobId,
      user_id: userId,
      user_name: 'Test',
      balance: 50,
      cost: 20,
      total: 2,
      kind: 'variant_sold',
      decide_by: decideBy,
      console_url: `https://gleaner.test/console/jobs/${jobId}`,
    },
  });
  await bench.jobs.clock.pass(22 * hour - 1);
  await bench.tell();
  expect(bench.receiver.received).toHaveLength(1);
  await bench.jobs.clock.pass(1);
  await bench.tell();
  await bench.tell();
  expect(bench.receiver.received).toHaveLength(2);
  expect(bench.verified(bench.receiver.received[1]!, secret)).toMatchObject({
    type: 'job.approval_expiring',
    data: { job_id: jobId, decide_by: decideBy },
  });
  await reject(bench.jobs.context, jobId, null, 'It was not approved within 24 hours.');
  await bench.tell();
  expect(bench.receiver.received).toHaveLength(3);
  expect(bench.verified(bench.receiver.received[2]!, webhook.secret)).toMatchObject({
    type: 'job.rejected',
    data: {
      job_id: jobId,
      status: 'rejected',
      failed: 2,
      success: 0,
      reason: 'It was not approved within 24 hours.',
    },
  });
});

test('operators are not reminded of a job that was decided, and are told once of one whose approval failed', async () => {
  await open({ operators: true, approval: true });
  const poor = await bench.jobs.createUser(20);
  const decided = await bench.submittedJob(await bench.jobs.createUser(100));
  const waiting = await bench.submittedJob(poor);
  await bench.tell();
  expect(bench.receiver.received).toHaveLength(2);
  await approve(bench.jobs.context, decided, operatorId);
  const spent = { userId: poor, amount: -15, type: 'grant', jobId: null, note: '', createdAt: 0 } as const;
  await bench.context.store.postLedgerEntry({ key: 'grant:taken', ...spent });
  await expect(approve(bench.jobs.context, waiting, operatorId)).rejects.toMatchObject({
    code: 'insufficient_credits',
  });
  await bench.tell();
  expect(bench.receiver.received).toHaveLength(2);
  await bench.jobs.clock.pass(22 * hour);
  await bench.tell();
  expect(bench.receiver.received).toHaveLength(3);
  expect(JSON.parse(bench.receiver.received[2]!.body)).toMatchObject({
    type: 'job.approval_expiring',
    data: { job_id: waiting, balance: 5 },
  });
});

test('what is due while an approval is under way is told once it is known what came of it', async () => {
  await open({ operators: true, approval: true });
  const jobId = await bench.submittedJob(await bench.jobs.createUser(100));
  const { store } = bench.context;
  await store.moveJob(jobId, ['awaiting_approval'], 'approving', bench.jobs.clock.now());
  await bench.tell();
  expect(await bench.deliveries()).toEqual([]);
  await store.moveJob(jobId, ['approving'], 'awaiting_approval', bench.jobs.clock.now());
  await bench.jobs.clock.pass(5_000);
  await bench.tell();
  expect(await bench.deliveries()).toHaveLength(1);
});
