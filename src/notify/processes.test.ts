import { afterEach, expect, test } from 'vitest';
import { mortal } from '../../test/support/mortal.ts';
import { type NoticesBench, openNotices } from '../../test/support/notices.ts';
import { createNotifier } from './notifier.ts';
import { queueTest } from './queue.ts';

let bench: NoticesBench;
afterEach(() => bench.close());

test('of several processes one sends a message', async () => {
  bench = await openNotices();
  const { userId } = await bench.createUser();
  for (let turn = 0; turn < 30; turn++) await queueTest(bench.context, userId);
  const notifiers = [bench.notifier, ...Array.from({ length: 3 }, () => createNotifier(bench.context))];
  for (let round = 0; round < 40; round++) {
    await Promise.all(notifiers.map((notifier) => bench.tell(notifier)));
    await bench.jobs.clock.pass(1_000);
  }
  const ids = bench.receiver.received.map(({ headers }) => headers['webhook-id']);
  expect(ids).toHaveLength(30);
  expect(new Set(ids).size).toBe(30);
});

test('what a process had when it died is sent by another once its lease is over', async () => {
  bench = await openNotices();
  const { userId } = await bench.createUser();
  const { id } = await queueTest(bench.context, userId);
  const now = bench.jobs.clock.now();
  await bench.context.store.takeDeliveries(now, now + 120_000, 10);
  await bench.jobs.clock.pass(119_999);
  await bench.tell();
  expect(bench.receiver.received).toEqual([]);
  await bench.jobs.clock.pass(1);
  await bench.tell();
  expect(bench.receiver.received).toMatchObject([{ headers: { 'webhook-id': id } }]);
  expect(await bench.deliveries()).toMatchObject([{ state: 'delivered', attempts: 1 }]);
});

test('a process that stops gives back what it had under way, and ends', async () => {
  bench = await openNotices();
  const { userId } = await bench.createUser();
  bench.receiver.answer(() => {});
  await queueTest(bench.context, userId);
  const stop = new AbortController();
  const ended = bench.notifier.run(stop.signal);
  await bench.receiver.came(1);
  stop.abort();
  await bench.jobs.comesTrue('it waits a little', () => bench.jobs.clock.sleeping() > 0);
  await bench.jobs.clock.pass(1_500);
  await ended;
  const now = bench.jobs.clock.now();
  expect(await bench.deliveries()).toMatchObject([{ state: 'pending', attempts: 0, nextAttemptAt: now }]);
  bench.receiver.answer((_request, response) => response.writeHead(204).end());
  await bench.tell(createNotifier(bench.context));
  expect(await bench.deliveries()).toMatchObject([{ state: 'delivered' }]);
});

test('a store that is away is waited for', async () => {
  bench = await openNotices();
  const { userId } = await bench.createUser();
  const victim = mortal(bench.jobs.context, 1, 'before');
  const cut = createNotifier({ ...bench.context, store: victim.context.store });
  await queueTest(bench.context, userId);
  await bench.tell(cut);
  expect(victim.dead()).toBe(true);
  expect(bench.receiver.received).toEqual([]);
  await bench.tell();
  expect(bench.receiver.received).toHaveLength(1);
});
