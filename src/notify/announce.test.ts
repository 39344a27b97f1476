import { afterEach, expect, test } from 'vitest';
import {
  type NotificationFixture,
  type NotificationOptions,
  openNotifications,
} from '../../test/support/jobs/notifications.ts';
import { newId } from '../base/id.ts';
import { approve, reject } from '../jobs/steps/decide.ts';

const hour = 3_600_000;
const operatorId = newId();
let fixture: NotificationFixture;
afterEach(() => fixture.close());
const open = async (options: NotificationOptions = {}) => {
  fixture = await openNotifications(options);
};

test('creates the run of a tracked job that ended, once, and none for other jobs', async () => {
  await open();
  const { store } = fixture.context;
  const { userId } = await fixture.createUser();
  const tracked = await fixture.endedJob(userId, { track: 'daily' });
  const plain = await fixture.endedJob(userId);
  await fixture.poll();
  const run = (await store.trackingRuns.get(tracked))!;
  expect(run).toMatchObject({ userId, series: 'daily', stage: 'items', dueAt: run.at });
  expect(await store.trackingRuns.get(plain)).toBeNull();
  await fixture.poll();
  expect(await store.trackingRuns.get(tracked)).toEqual(run);
});

test('sends the user one signed message when a job ends', async () => {
  await open();
  const { userId, webhook } = await fixture.createUser();
  const jobId = await fixture.endedJob(userId);
  await fixture.poll();
  await fixture.poll();
  expect(fixture.receiver.received).toHaveLength(1);
  const [message] = fixture.receiver.received;
  expect(message!.headers['content-type']).toBe('application/json');
  const job = (await fixture.context.store.jobs.get(jobId))!;
  expect(fixture.verified(message!, webhook.secret)).toEqual({
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
  expect(await fixture.deliveries()).toMatchObject([
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

test('sends nothing to a user without an enabled webhook', async () => {
  await open();
  const { userId, webhook } = await fixture.createUser();
  await fixture.context.store.webhooks.put({ ...webhook, enabled: false, revision: 2 });
  const other = await fixture.jobs.createUser(100);
  await fixture.endedJob(userId);
  await fixture.endedJob(other);
  await fixture.poll();
  expect(await fixture.deliveries()).toEqual([]);
  expect(
    await fixture.context.store.jobs.find({ noticeAt: { atMost: fixture.jobs.clock.now() } }),
  ).toEqual([]);
});

test('notifies operators of a waiting job, reminds them two hours before its deadline and notifies the user of the rejection', async () => {
  await open({ operators: true, approval: true });
  const { userId, webhook } = await fixture.createUser(50);
  const jobId = await fixture.submittedJob(userId);
  const { secret } = fixture.context.settings.notices.operatorWebhook!;
  await fixture.poll();
  const [first] = fixture.receiver.received;
  expect(first!.path).toBe('/hook/operators');
  const decideBy = new Date(fixture.jobs.clock.now() + 24 * hour).toISOString();
  expect(fixture.verified(first!, secret)).toMatchObject({
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
  await fixture.jobs.clock.advance(22 * hour - 1);
  await fixture.poll();
  expect(fixture.receiver.received).toHaveLength(1);
  await fixture.jobs.clock.advance(1);
  await fixture.poll();
  await fixture.poll();
  expect(fixture.receiver.received).toHaveLength(2);
  expect(fixture.verified(fixture.receiver.received[1]!, secret)).toMatchObject({
    type: 'job.approval_expiring',
    data: { job_id: jobId, decide_by: decideBy },
  });
  await reject(fixture.jobs.context, jobId, null, 'It was not approved within 24 hours.');
  await fixture.poll();
  expect(fixture.receiver.received).toHaveLength(3);
  expect(fixture.verified(fixture.receiver.received[2]!, webhook.secret)).toMatchObject({
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

test('sends no reminder for a decided job and only one for a job whose approval failed', async () => {
  await open({ operators: true, approval: true });
  const poor = await fixture.jobs.createUser(20);
  const decided = await fixture.submittedJob(await fixture.jobs.createUser(100));
  const waiting = await fixture.submittedJob(poor);
  await fixture.poll();
  expect(fixture.receiver.received).toHaveLength(2);
  await approve(fixture.jobs.context, decided, operatorId);
  const spent = {
    userId: poor,
    amount: -15,
    type: 'grant',
    jobId: null,
    keyId: null,
    note: '',
    createdAt: 0,
  } as const;
  await fixture.context.store.ledger.post({ key: 'grant:taken', ...spent });
  await expect(approve(fixture.jobs.context, waiting, operatorId)).rejects.toMatchObject({
    code: 'insufficient_credits',
  });
  await fixture.poll();
  expect(fixture.receiver.received).toHaveLength(2);
  await fixture.jobs.clock.advance(22 * hour);
  await fixture.poll();
  expect(fixture.receiver.received).toHaveLength(3);
  expect(JSON.parse(fixture.receiver.received[2]!.body)).toMatchObject({
    type: 'job.approval_expiring',
    data: { job_id: waiting, balance: 5 },
  });
});

test('delays messages while an approval is in progress', async () => {
  await open({ operators: true, approval: true });
  const jobId = await fixture.submittedJob(await fixture.jobs.createUser(100));
  const { store } = fixture.context;
  await store.jobs.move(jobId, ['awaiting_approval'], 'approving', fixture.jobs.clock.now());
  await fixture.poll();
  expect(await fixture.deliveries()).toEqual([]);
  await store.jobs.move(jobId, ['approving'], 'awaiting_approval', fixture.jobs.clock.now());
  await fixture.jobs.clock.advance(5_000);
  await fixture.poll();
  expect(await fixture.deliveries()).toHaveLength(1);
});
