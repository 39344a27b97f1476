import { Webhook } from 'standardwebhooks';
import { afterEach, expect, test, vi } from 'vitest';
import { variantSoldRequest } from '../../test/support/jobs.ts';
import { type NoticesBench, type NoticesOptions, openNotices } from '../../test/support/notices.ts';
import type { Received } from '../../test/support/receiver.ts';
import { newId } from '../base/id.ts';
import { approve, reject } from '../jobs/decide.ts';
import { keptMs } from './notifier.ts';
import { queueOperatorTest, queueTest } from './queue.ts';
import { rotateSecret } from './webhook.ts';

const hour = 3_600_000;
const operatorId = newId();
let bench: NoticesBench;
afterEach(async () => {
  vi.useRealTimers();
  await bench?.close();
});
const open = async (options: NoticesOptions = {}) => {
  bench = await openNotices(options);
};

/** Verifies a message as its receiver does, and gives it. */
// biome-ignore lint/suspicious/noExplicitAny: messages of every type.
function verified({ headers, body }: Received, secret: string): any {
  expect(headers['webhook-timestamp']).toBe(String(Math.floor(bench.jobs.clock.now() / 1_000)));
  vi.useFakeTimers({ toFake: ['Date'], now: bench.jobs.clock.now() });
  try {
    return new Webhook(secret).verify(body, headers as Record<string, string>);
  } finally {
    vi.useRealTimers();
  }
}

async function submitted(userId: string, plain = 2, ...more: string[]): Promise<string> {
  const { jobId } = await bench.jobs.submit(userId, 'SubmitVariantSold', variantSoldRequest(plain, ...more));
  return jobId;
}

async function ended(userId: string): Promise<string> {
  const jobId = await submitted(userId, 2, '30000000801');
  await bench.jobs.startWorker();
  await bench.jobs.reaches(jobId, 'completed', 'partial_complete');
  return jobId;
}

test('a user is told once of a job that has ended, with what came of it, signed', async () => {
  await open();
  const { userId, webhook } = await bench.createUser();
  const jobId = await ended(userId);
  await bench.tell();
  await bench.tell();
  expect(bench.receiver.received).toHaveLength(1);
  const [message] = bench.receiver.received;
  expect(message!.headers['content-type']).toBe('application/json');
  const job = (await bench.context.store.getJob(jobId))!;
  expect(verified(message!, webhook.secret)).toEqual({
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
  await ended(userId);
  await ended(other);
  await bench.tell();
  expect(await bench.deliveries()).toEqual([]);
  expect(await bench.context.store.findNoticeDue(bench.jobs.clock.now(), 10)).toEqual([]);
});

test('operators are told of a job that waits, and again two hours before its time is over; its user of its end', async () => {
  await open({ operators: true, approval: true });
  const { userId, webhook } = await bench.createUser(50);
  const jobId = await submitted(userId);
  const { secret } = bench.context.settings.operatorWebhook!;
  await bench.tell();
  const [first] = bench.receiver.received;
  expect(first!.path).toBe('/hook/operators');
  const decideBy = new Date(bench.jobs.clock.now() + 24 * hour).toISOString();
  expect(verified(first!, secret)).toMatchObject({
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
  expect(verified(bench.receiver.received[1]!, secret)).toMatchObject({
    type: 'job.approval_expiring',
    data: { job_id: jobId, decide_by: decideBy },
  });
  await reject(bench.jobs.context, jobId, null, 'It was not approved within 24 hours.');
  await bench.tell();
  expect(bench.receiver.received).toHaveLength(3);
  expect(verified(bench.receiver.received[2]!, webhook.secret)).toMatchObject({
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
  const decided = await submitted(await bench.jobs.createUser(100));
  const waiting = await submitted(poor);
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
  const jobId = await submitted(await bench.jobs.createUser(100));
  const { store } = bench.context;
  await store.moveJob(jobId, ['awaiting_approval'], 'approving', bench.jobs.clock.now());
  await bench.tell();
  expect(await bench.deliveries()).toEqual([]);
  await store.moveJob(jobId, ['approving'], 'awaiting_approval', bench.jobs.clock.now());
  await bench.jobs.clock.pass(5_000);
  await bench.tell();
  expect(await bench.deliveries()).toHaveLength(1);
});

test('a message that is refused is tried over a day, the same each time, and then given up', async () => {
  await open();
  const { userId } = await bench.createUser();
  bench.receiver.answer((_request, response) => response.writeHead(500).end('out\n of\torder'));
  await queueTest(bench.context, userId);
  const begun = bench.jobs.clock.now();
  const times: number[] = [];
  for (let tries = 1; tries <= 11; tries++) {
    await bench.tell();
    expect(bench.receiver.received).toHaveLength(tries);
    times.push(bench.jobs.clock.now() - begun);
    const [delivery] = await bench.deliveries();
    expect(delivery).toMatchObject({ attempts: tries, responseStatus: 500, error: 'HTTP 500: out of order' });
    if (delivery!.nextAttemptAt === null) break;
    await bench.jobs.clock.pass(delivery!.nextAttemptAt - bench.jobs.clock.now() - 1);
    await bench.tell();
    expect(bench.receiver.received).toHaveLength(tries);
    await bench.jobs.clock.pass(1);
  }
  expect(await bench.deliveries()).toMatchObject([{ state: 'failed', endedAt: begun + times.at(-1)! }]);
  expect(times.slice(0, 4)).toEqual([0, 5_000, 35_000, 155_000]);
  expect(times.at(-1)! / hour).toBeCloseTo(23.7, 0);
  expect(new Set(bench.receiver.received.map(({ headers }) => headers['webhook-id'])).size).toBe(1);
  expect(new Set(bench.receiver.received.map(({ body }) => body)).size).toBe(1);
});

test('a message gets through once its receiver is well again, and from its first try on when it is sent again', async () => {
  await open();
  const { userId } = await bench.createUser();
  bench.receiver.answer((request) => request.socket.resetAndDestroy());
  const { id } = await queueTest(bench.context, userId);
  await bench.tell();
  expect(await bench.deliveries()).toMatchObject([
    { state: 'pending', attempts: 1, responseStatus: null, error: expect.stringContaining('reset') },
  ]);
  bench.receiver.answer((_request, response) => response.writeHead(200).end());
  await bench.jobs.clock.pass(5_000);
  await bench.tell();
  expect(await bench.deliveries()).toMatchObject([{ state: 'delivered', attempts: 2, error: '' }]);

  bench.receiver.answer((_request, response) => response.writeHead(503).end());
  await bench.context.store.redeliver(id, bench.jobs.clock.now(), userId);
  await bench.tell();
  const next = bench.jobs.clock.now() + 5_000;
  expect(await bench.deliveries()).toMatchObject([{ state: 'pending', attempts: 3, nextAttemptAt: next }]);
});

test('a receiver that asks to be left alone for a while is', async () => {
  await open();
  const { userId } = await bench.createUser();
  bench.receiver.answer((_request, response) => response.writeHead(429, { 'retry-after': '90' }).end());
  await queueTest(bench.context, userId);
  await bench.tell();
  const [delivery] = await bench.deliveries();
  const wait = delivery!.nextAttemptAt! - bench.jobs.clock.now();
  expect(wait).toBeGreaterThanOrEqual(90_000);
  expect(wait).toBeLessThan(100_000);
});

test('a receiver that is gone for good ends it and switches the webhook off', async () => {
  await open();
  const { userId, webhook } = await bench.createUser();
  bench.receiver.answer((_request, response) => response.writeHead(410).end());
  await queueTest(bench.context, userId);
  await bench.tell();
  expect(await bench.deliveries()).toMatchObject([{ state: 'failed', attempts: 1, responseStatus: 410 }]);
  expect(await bench.context.store.getWebhook(userId)).toMatchObject({ url: webhook.url, enabled: false });
});

test('a redirect is not followed', async () => {
  await open();
  const { userId } = await bench.createUser();
  bench.receiver.answer((_request, response) => response.writeHead(302, { location: '/elsewhere' }).end());
  await queueTest(bench.context, userId);
  await bench.tell();
  expect(bench.receiver.received).toHaveLength(1);
  expect(await bench.deliveries()).toMatchObject([
    { state: 'pending', responseStatus: 302, error: 'HTTP 302: redirects are not followed' },
  ]);
});

test('a message to a private address is refused for good, unless it is the operators’', async () => {
  await open({ operators: true });
  bench.context.settings.privateWebhooks = false;
  const { userId } = await bench.createUser();
  await queueTest(bench.context, userId);
  await bench.tell();
  expect(bench.receiver.received).toEqual([]);
  expect(await bench.deliveries()).toMatchObject([
    { state: 'failed', attempts: 1, error: '127.0.0.1 is not an address of the public internet' },
  ]);
  await queueOperatorTest(bench.context);
  await bench.tell();
  expect(bench.receiver.received.map(({ path }) => path)).toEqual(['/hook/operators']);
});

test('a receiver that hangs holds no other up', async () => {
  await open({ operators: true, answerMs: 200 });
  const { userId } = await bench.createUser();
  bench.receiver.answer((request, response) => {
    if (request.url === '/hook/operators') response.writeHead(204).end();
  });
  for (let turn = 0; turn < 120; turn++) await queueTest(bench.context, userId);
  await queueOperatorTest(bench.context);
  await bench.notifier.round();
  await bench.receiver.came(5);
  // Not at its end yet: the others hang still.
  expect(bench.receiver.received.map(({ path }) => path)).toContain('/hook/operators');
  await bench.notifier.idle();
  const all = await bench.deliveries();
  expect(all.filter(({ userId: whose }) => whose === null)).toMatchObject([{ state: 'delivered' }]);
  expect(all.filter(({ attempts, userId: whose }) => whose !== null && attempts > 0)).toHaveLength(4);
  expect(all.every(({ error }) => error === '' || error.includes('no answer within'))).toBe(true);

  bench.receiver.answer((_request, response) => response.writeHead(204).end());
  for (let turn = 0; turn < 200; turn++) {
    await bench.jobs.clock.pass(10_000);
    await bench.tell();
  }
  expect((await bench.deliveries()).every(({ state }) => state === 'delivered')).toBe(true);
  const ids = bench.receiver.received.map(({ headers }) => headers['webhook-id']);
  expect(ids).toHaveLength(121 + 4);
});

test('a message goes where the webhook is now, or nowhere once it is removed or off', async () => {
  await open();
  const { userId, webhook } = await bench.createUser();
  const { store } = bench.context;
  const url = `${bench.receiver.url}/new`;
  await queueTest(bench.context, userId);
  await store.putWebhook({ ...webhook, url, revision: 2 });
  await bench.tell();
  expect(bench.receiver.received).toMatchObject([{ path: '/hook/new' }]);
  expect(await bench.deliveries()).toMatchObject([{ target: url }]);

  await queueTest(bench.context, userId);
  await store.putWebhook({ ...webhook, enabled: false, revision: 3 });
  await bench.tell();
  await store.redeliver((await bench.deliveries())[1]!.id, bench.jobs.clock.now());
  await store.removeWebhook(userId);
  await bench.tell();
  const [, late] = await bench.deliveries();
  expect(late).toMatchObject({ state: 'failed', attempts: 2, error: 'The webhook was removed' });
  expect(bench.receiver.received).toHaveLength(1);
});

test('after a rotation messages are signed with both secrets for a day', async () => {
  await open();
  const { userId, webhook } = await bench.createUser();
  const rotated = await rotateSecret(bench.context, userId);
  expect(rotated.secret).not.toBe(webhook.secret);
  await bench.jobs.clock.pass(24 * hour - 1);
  await queueTest(bench.context, userId);
  await bench.tell();
  const [during] = bench.receiver.received;
  expect(verified(during!, webhook.secret)).toMatchObject({ type: 'test' });
  expect(verified(during!, rotated.secret)).toMatchObject({ type: 'test' });
  await bench.jobs.clock.pass(1);
  await queueTest(bench.context, userId);
  await bench.tell();
  const [, after] = bench.receiver.received;
  expect(verified(after!, rotated.secret)).toMatchObject({ type: 'test' });
  expect(() => verified(after!, webhook.secret)).toThrow('No matching signature found');
  expect(() => verified({ ...after!, body: `${after!.body} ` }, rotated.secret)).toThrow();
});

test('deliveries are kept for 30 days', async () => {
  await open();
  const { userId } = await bench.createUser();
  await queueTest(bench.context, userId);
  await bench.tell();
  await bench.jobs.clock.pass(keptMs);
  await bench.tell();
  expect(await bench.deliveries()).toHaveLength(1);
  await bench.jobs.clock.pass(hour);
  await bench.tell();
  expect(await bench.deliveries()).toEqual([]);
});
