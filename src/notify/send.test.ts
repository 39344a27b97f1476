import { afterEach, expect, test } from 'vitest';
import { type NoticesBench, type NoticesOptions, openNotices } from '../../test/support/notices.ts';
import { keptMs } from './notifier.ts';
import { queueOperatorTest, queueTest } from './queue.ts';
import { rotateSecret } from './webhook.ts';

const hour = 3_600_000;
let bench: NoticesBench;
afterEach(() => bench.close());
const open = async (options: NoticesOptions = {}) => {
  bench = await openNotices(options);
};

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

test('but not one that was given another address meanwhile, nor anything of the operators', async () => {
  await open({ operators: true });
  const { userId, webhook } = await bench.createUser();
  const url = `${bench.receiver.url}/new`;
  bench.receiver.answer(async (_request, response) => {
    await bench.context.store.putWebhook({ ...webhook, url, revision: 2 });
    response.writeHead(410).end();
  });
  await queueTest(bench.context, userId);
  await bench.tell();
  expect(await bench.context.store.getWebhook(userId)).toMatchObject({ url, enabled: true, revision: 2 });
  await queueOperatorTest(bench.context);
  await bench.tell();
  expect((await bench.deliveries()).map(({ state, responseStatus }) => [state, responseStatus])).toEqual([
    ['failed', 410],
    ['failed', 410],
  ]);
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
  await open({ operators: true, answerMs: 1_500 });
  const { userId } = await bench.createUser();
  bench.receiver.answer((request, response) => {
    if (request.url === '/hook/operators') response.writeHead(204).end();
  });
  for (let turn = 0; turn < 120; turn++) await queueTest(bench.context, userId);
  await queueOperatorTest(bench.context);
  await bench.notifier.round();
  const ofOperators = async () => (await bench.deliveries()).filter(({ userId: whose }) => whose === null);
  await bench.jobs.comesTrue('it is there', async () => (await ofOperators())[0]!.state === 'delivered');
  // None of the others is through by then.
  expect((await bench.deliveries()).filter(({ attempts }) => attempts > 0)).toHaveLength(1);
  await bench.notifier.idle();
  const all = await bench.deliveries();
  expect(all.filter(({ attempts, userId: whose }) => whose !== null && attempts > 0)).toHaveLength(4);
  expect(all.every(({ error }) => error === '' || error.includes('no answer within'))).toBe(true);

  bench.receiver.answer((_request, response) => response.writeHead(204).end());
  for (let turn = 0; turn < 200; turn++) {
    await bench.jobs.clock.pass(10_000);
    await bench.tell();
  }
  expect((await bench.deliveries()).every(({ state }) => state === 'delivered')).toBe(true);
  const ids = bench.receiver.received.map(({ headers }) => headers['webhook-id']);
  expect(new Set(ids).size).toBe(121);
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
  expect(bench.verified(during!, webhook.secret)).toMatchObject({ type: 'test' });
  expect(bench.verified(during!, rotated.secret)).toMatchObject({ type: 'test' });
  await bench.jobs.clock.pass(1);
  await queueTest(bench.context, userId);
  await bench.tell();
  const [, after] = bench.receiver.received;
  expect(bench.verified(after!, rotated.secret)).toMatchObject({ type: 'test' });
  expect(() => bench.verified(after!, webhook.secret)).toThrow('No matching signature found');
  expect(() => bench.verified({ ...after!, body: `${after!.body} ` }, rotated.secret)).toThrow();
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
