import { afterEach, expect, test } from 'vitest';
import {
  type NotificationFixture,
  type NotificationOptions,
  openNotifications,
} from '../../test/support/jobs/notifications.ts';
import { redeliver } from '../store/deliveries.ts';
import { queueOperatorTest, queueTest } from './queue.ts';
import { rotateSecret } from './webhook.ts';

const hour = 3_600_000;
let fixture: NotificationFixture;
afterEach(() => fixture.close());
const open = async (options: NotificationOptions = {}) => {
  fixture = await openNotifications(options);
};

test('retries a refused message unchanged for a day, then fails it', async () => {
  await open();
  const { userId } = await fixture.createUser();
  fixture.receiver.respondWith((_request, response) =>
    response.writeHead(500).end('out\n of\torder'),
  );
  await queueTest(fixture.context, userId);
  const startedAt = fixture.jobs.clock.now();
  const times: number[] = [];
  for (let attempt = 1; attempt <= 11; attempt++) {
    await fixture.poll();
    expect(fixture.receiver.received).toHaveLength(attempt);
    times.push(fixture.jobs.clock.now() - startedAt);
    const [delivery] = await fixture.deliveries();
    expect(delivery).toMatchObject({
      attempts: attempt,
      responseStatus: 500,
      error: 'HTTP 500: out of order',
    });
    if (delivery!.nextAttemptAt === null) break;
    await fixture.jobs.clock.advance(delivery!.nextAttemptAt - fixture.jobs.clock.now() - 1);
    await fixture.poll();
    expect(fixture.receiver.received).toHaveLength(attempt);
    await fixture.jobs.clock.advance(1);
  }
  expect(await fixture.deliveries()).toMatchObject([
    { state: 'failed', endedAt: startedAt + times.at(-1)! },
  ]);
  expect(times.slice(0, 4)).toEqual([0, 5_000, 35_000, 155_000]);
  expect(times.at(-1)! / hour).toBeCloseTo(23.7, 0);
  expect(new Set(fixture.receiver.received.map(({ headers }) => headers['webhook-id'])).size).toBe(
    1,
  );
  expect(new Set(fixture.receiver.received.map(({ body }) => body)).size).toBe(1);
});

test('delivers once the receiver recovers and restarts the schedule on redelivery', async () => {
  await open();
  const { userId } = await fixture.createUser();
  fixture.receiver.respondWith((request) => request.socket.resetAndDestroy());
  const { id } = await queueTest(fixture.context, userId);
  await fixture.poll();
  expect(await fixture.deliveries()).toMatchObject([
    {
      state: 'pending',
      attempts: 1,
      responseStatus: null,
      error: expect.stringContaining('reset'),
    },
  ]);
  fixture.receiver.respondWith((_request, response) => response.writeHead(200).end());
  await fixture.jobs.clock.advance(5_000);
  await fixture.poll();
  expect(await fixture.deliveries()).toMatchObject([
    { state: 'delivered', attempts: 2, error: '' },
  ]);

  fixture.receiver.respondWith((_request, response) => response.writeHead(503).end());
  await redeliver(fixture.context.store, id, fixture.jobs.clock.now(), userId);
  await fixture.poll();
  const next = fixture.jobs.clock.now() + 5_000;
  expect(await fixture.deliveries()).toMatchObject([
    { state: 'pending', attempts: 3, nextAttemptAt: next },
  ]);
});

test('honors Retry-After', async () => {
  await open();
  const { userId } = await fixture.createUser();
  fixture.receiver.respondWith((_request, response) =>
    response.writeHead(429, { 'retry-after': '90' }).end(),
  );
  await queueTest(fixture.context, userId);
  await fixture.poll();
  const [delivery] = await fixture.deliveries();
  const wait = delivery!.nextAttemptAt! - fixture.jobs.clock.now();
  expect(wait).toBeGreaterThanOrEqual(90_000);
  expect(wait).toBeLessThan(100_000);
});

test('fails the delivery and disables the webhook on 410', async () => {
  await open();
  const { userId, webhook } = await fixture.createUser();
  fixture.receiver.respondWith((_request, response) => response.writeHead(410).end());
  await queueTest(fixture.context, userId);
  await fixture.poll();
  expect(await fixture.deliveries()).toMatchObject([
    { state: 'failed', attempts: 1, responseStatus: 410 },
  ]);
  expect(await fixture.context.store.webhooks.get(userId)).toMatchObject({
    url: webhook.url,
    enabled: false,
  });
});

test('410 disables neither a webhook with a new address nor the operator webhook', async () => {
  await open({ operators: true });
  const { userId, webhook } = await fixture.createUser();
  const url = `${fixture.receiver.url}/new`;
  fixture.receiver.respondWith(async (_request, response) => {
    await fixture.context.store.webhooks.put({ ...webhook, url, revision: 2 });
    response.writeHead(410).end();
  });
  await queueTest(fixture.context, userId);
  await fixture.poll();
  expect(await fixture.context.store.webhooks.get(userId)).toMatchObject({
    url,
    enabled: true,
    revision: 2,
  });
  await queueOperatorTest(fixture.context);
  await fixture.poll();
  expect(
    (await fixture.deliveries()).map(({ state, responseStatus }) => [state, responseStatus]),
  ).toEqual([
    ['failed', 410],
    ['failed', 410],
  ]);
});

test('does not follow redirects', async () => {
  await open();
  const { userId } = await fixture.createUser();
  fixture.receiver.respondWith((_request, response) =>
    response.writeHead(302, { location: '/elsewhere' }).end(),
  );
  await queueTest(fixture.context, userId);
  await fixture.poll();
  expect(fixture.receiver.received).toHaveLength(1);
  expect(await fixture.deliveries()).toMatchObject([
    { state: 'pending', responseStatus: 302, error: 'HTTP 302: redirects are not followed' },
  ]);
});

test('refuses private addresses, except for the operator webhook', async () => {
  await open({ operators: true });
  fixture.context.settings.notices.privateWebhooks = false;
  const { userId } = await fixture.createUser();
  await queueTest(fixture.context, userId);
  await fixture.poll();
  expect(fixture.receiver.received).toEqual([]);
  expect(await fixture.deliveries()).toMatchObject([
    { state: 'failed', attempts: 1, error: '127.0.0.1 is not an address of the public internet' },
  ]);
  await queueOperatorTest(fixture.context);
  await fixture.poll();
  expect(fixture.receiver.received.map(({ path }) => path)).toEqual(['/hook/operators']);
});

test('a hanging receiver does not delay others', async () => {
  await open({ operators: true, timeoutMs: 1_500 });
  const { userId } = await fixture.createUser();
  fixture.receiver.respondWith((request, response) => {
    if (request.url === '/hook/operators') response.writeHead(204).end();
  });
  for (let turn = 0; turn < 120; turn++) await queueTest(fixture.context, userId);
  await queueOperatorTest(fixture.context);
  await fixture.notifier.poll();
  const ofOperators = async () =>
    (await fixture.deliveries()).filter(({ userId: whose }) => whose === null);
  await fixture.jobs.eventually(
    'the operators’ message is delivered',
    async () => (await ofOperators())[0]!.state === 'delivered',
  );
  // All messages to the hanging receiver are still in progress or queued.
  expect((await fixture.deliveries()).filter(({ attempts }) => attempts > 0)).toHaveLength(1);
  await fixture.notifier.idle();
  const all = await fixture.deliveries();
  expect(all.filter(({ attempts, userId: whose }) => whose !== null && attempts > 0)).toHaveLength(
    4,
  );
  expect(all.every(({ error }) => error === '' || error.includes('no response within'))).toBe(true);

  fixture.receiver.respondWith((_request, response) => response.writeHead(204).end());
  for (let turn = 0; turn < 200; turn++) {
    await fixture.jobs.clock.advance(10_000);
    await fixture.poll();
  }
  expect((await fixture.deliveries()).every(({ state }) => state === 'delivered')).toBe(true);
  const ids = fixture.receiver.received.map(({ headers }) => headers['webhook-id']);
  expect(new Set(ids).size).toBe(121);
});

test('sends to the webhook’s current address, and nowhere once it is deleted or disabled', async () => {
  await open();
  const { userId, webhook } = await fixture.createUser();
  const { store } = fixture.context;
  const url = `${fixture.receiver.url}/new`;
  await queueTest(fixture.context, userId);
  await store.webhooks.put({ ...webhook, url, revision: 2 });
  await fixture.poll();
  expect(fixture.receiver.received).toMatchObject([{ path: '/hook/new' }]);
  expect(await fixture.deliveries()).toMatchObject([{ target: url }]);

  await queueTest(fixture.context, userId);
  await store.webhooks.put({ ...webhook, enabled: false, revision: 3 });
  await fixture.poll();
  await redeliver(store, (await fixture.deliveries())[1]!.id, fixture.jobs.clock.now());
  await store.webhooks.remove({ userId });
  await fixture.poll();
  const [, late] = await fixture.deliveries();
  expect(late).toMatchObject({ state: 'failed', attempts: 2, error: 'The webhook was deleted' });
  expect(fixture.receiver.received).toHaveLength(1);
});

test('signs with both secrets for a day after a rotation', async () => {
  await open();
  const { userId, webhook } = await fixture.createUser();
  const rotated = await rotateSecret(fixture.context, userId);
  expect(rotated.secret).not.toBe(webhook.secret);
  await fixture.jobs.clock.advance(24 * hour - 1);
  await queueTest(fixture.context, userId);
  await fixture.poll();
  const [during] = fixture.receiver.received;
  expect(fixture.verified(during!, webhook.secret)).toMatchObject({ type: 'test' });
  expect(fixture.verified(during!, rotated.secret)).toMatchObject({ type: 'test' });
  await fixture.jobs.clock.advance(1);
  await queueTest(fixture.context, userId);
  await fixture.poll();
  const [, after] = fixture.receiver.received;
  expect(fixture.verified(after!, rotated.secret)).toMatchObject({ type: 'test' });
  expect(() => fixture.verified(after!, webhook.secret)).toThrow('No matching signature found');
  expect(() => fixture.verified({ ...after!, body: `${after!.body} ` }, rotated.secret)).toThrow();
});
