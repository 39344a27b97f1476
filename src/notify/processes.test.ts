import { afterEach, expect, test } from 'vitest';
import { createCrashingProcess } from '../../test/support/crash.ts';
import { type NotificationFixture, openNotifications } from '../../test/support/notifications.ts';
import { createNotifier } from './notifier.ts';
import { queueTest } from './queue.ts';

let fixture: NotificationFixture;
afterEach(() => fixture.close());

test('sends each message from one of several processes', async () => {
  fixture = await openNotifications();
  const { userId } = await fixture.createUser();
  for (let index = 0; index < 30; index++) await queueTest(fixture.context, userId);
  const notifiers = [fixture.notifier, ...Array.from({ length: 3 }, () => createNotifier(fixture.context))];
  for (let round = 0; round < 40; round++) {
    await Promise.all(notifiers.map((notifier) => fixture.poll(notifier)));
    await fixture.jobs.clock.advance(1_000);
  }
  const ids = fixture.receiver.received.map(({ headers }) => headers['webhook-id']);
  expect(ids).toHaveLength(30);
  expect(new Set(ids).size).toBe(30);
});

test('another process sends a dead process’s delivery when its lease expires', async () => {
  fixture = await openNotifications();
  const { userId } = await fixture.createUser();
  const { id } = await queueTest(fixture.context, userId);
  const now = fixture.jobs.clock.now();
  await fixture.context.store.claimDeliveries(now, now + 120_000, 10);
  await fixture.jobs.clock.advance(119_999);
  await fixture.poll();
  expect(fixture.receiver.received).toEqual([]);
  await fixture.jobs.clock.advance(1);
  await fixture.poll();
  expect(fixture.receiver.received).toMatchObject([{ headers: { 'webhook-id': id } }]);
  expect(await fixture.deliveries()).toMatchObject([{ state: 'delivered', attempts: 1 }]);
});

test('a stopping process postpones unfinished deliveries', async () => {
  fixture = await openNotifications();
  const { userId } = await fixture.createUser();
  fixture.receiver.answer(() => {});
  await queueTest(fixture.context, userId);
  const stop = new AbortController();
  const ended = fixture.notifier.run(stop.signal);
  await fixture.receiver.waitForMessages(1);
  stop.abort();
  await fixture.jobs.eventually(
    'the notifier waits for the grace period',
    () => fixture.jobs.clock.sleepers() > 0,
  );
  await fixture.jobs.clock.advance(1_500);
  await ended;
  const now = fixture.jobs.clock.now();
  expect(await fixture.deliveries()).toMatchObject([{ state: 'pending', attempts: 0, nextAttemptAt: now }]);
  fixture.receiver.answer((_request, response) => response.writeHead(204).end());
  await fixture.poll(createNotifier(fixture.context));
  expect(await fixture.deliveries()).toMatchObject([{ state: 'delivered' }]);
});

test('resumes when the store is available again', async () => {
  fixture = await openNotifications();
  const { userId } = await fixture.createUser();
  const victim = createCrashingProcess(fixture.jobs.context, 1, 'before');
  const cut = createNotifier({ ...fixture.context, store: victim.context.store });
  await queueTest(fixture.context, userId);
  await fixture.poll(cut);
  expect(victim.isCrashed()).toBe(true);
  expect(fixture.receiver.received).toEqual([]);
  await fixture.poll();
  expect(fixture.receiver.received).toHaveLength(1);
});
