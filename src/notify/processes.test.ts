import { afterEach, expect, test } from 'vitest';
import { createCrashingProcess } from '../../test/support/faults/crash.ts';
import {
  type NotificationFixture,
  openNotifications,
} from '../../test/support/jobs/notifications.ts';
import { createNotifier } from './notifier.ts';
import { queueTest } from './queue.ts';

let fixture: NotificationFixture;
afterEach(() => fixture.close());

test('sends each message from one of several processes', async () => {
  fixture = await openNotifications();
  const { userId } = await fixture.createUser();
  for (let index = 0; index < 30; index++) await queueTest(fixture.context, userId);
  const notifiers = [
    fixture.notifier,
    ...Array.from({ length: 3 }, () => createNotifier(fixture.context)),
  ];
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
  await fixture.context.store.deliveries.claimDue(now, now + 120_000, 10);
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
  fixture.receiver.respondWith(() => {});
  await queueTest(fixture.context, userId);
  const stop = new AbortController();
  const ended = fixture.notifier.run(stop.signal);
  await fixture.receiver.waitForMessages(1);
  stop.abort();
  await fixture.jobs.eventually(
    'the notifier waits for the grace period',
    // The other sleeper renews the permits.
    () => fixture.jobs.clock.sleepers() > 1,
  );
  await fixture.jobs.clock.advance(1_500);
  await ended;
  const now = fixture.jobs.clock.now();
  expect(await fixture.deliveries()).toMatchObject([
    { state: 'pending', attempts: 0, nextAttemptAt: now },
  ]);
  fixture.receiver.respondWith((_request, response) => response.writeHead(204).end());
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

test('delivers at most four messages to a receiver at the same time over all processes', async () => {
  fixture = await openNotifications();
  const { userId } = await fixture.createUser();
  const open: (() => void)[] = [];
  let max = 0;
  fixture.receiver.respondWith((_request, response) => {
    open.push(() => response.writeHead(204).end());
    max = Math.max(max, open.length);
  });
  const notifiers = [fixture.notifier, createNotifier(fixture.context)];
  for (const notifier of notifiers) {
    for (let index = 0; index < 10; index++) await queueTest(fixture.context, userId);
    await notifier.poll();
  }
  const { clock } = fixture.jobs;
  for (let round = 0; fixture.receiver.received.length < 20 || open.length > 0; round++) {
    expect(round).toBeLessThan(1_000);
    await clock.advance(100);
    await new Promise(setImmediate);
    if (round % 5 === 4) for (const end of open.splice(0)) end();
  }
  expect(max).toBe(4);
  await Promise.all(notifiers.map((notifier) => notifier.idle()));
  const ids = fixture.receiver.received.map(({ headers }) => headers['webhook-id']);
  expect(new Set(ids).size).toBe(20);
});
