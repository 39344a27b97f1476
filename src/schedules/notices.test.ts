import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { createCrashingProcess } from '../../test/support/crash.ts';
import { type NotificationFixture, openNotifications } from '../../test/support/notifications.ts';
import { csvRequest, minute, type ScheduleFixture, withSchedules } from '../../test/support/schedules.ts';
import { approvalWaitMs } from '../jobs/context.ts';
import { createNotifier } from '../notify/notifier.ts';
import { setWebhook } from '../notify/webhook.ts';
import type { Webhook } from '../store/documents.ts';
import type { Schedule } from '../store/schedules.ts';
import { sweep } from '../sweep/sweep.ts';
import { type Caller, rejectSchedule } from './change.ts';
import { leaseMs } from './context.ts';
import { updateSchedule } from './edit.ts';

const hour = 60 * minute;
let notifications: NotificationFixture;
let fixture: ScheduleFixture;
let caller: Caller;
let webhook: Webhook;
beforeEach(async () => {
  notifications = await openNotifications({ operators: true, approval: true });
  fixture = withSchedules(notifications.jobs);
  await openAccount();
});
afterEach(() => notifications.close());

/** Creates a user with a key and a webhook. */
async function openAccount(): Promise<void> {
  caller = await fixture.createCaller(1_000);
  const { url } = notifications.receiver;
  webhook = await setWebhook(notifications.context, caller.userId, { url, enabled: true });
}

const item = { item_id: '1', shop_id: '7', country: 'sg' };
const variantSold = { kind: 'variant_sold', request: JSON.stringify({ items: [item] }) };
/** Creates a schedule that awaits approval. */
const create = () => fixture.create(caller, variantSold);
/** Advances the clock and does what processes do then. */
const tick = async (ms: number) => {
  await fixture.tick(ms);
  await notifications.poll();
};
const messages = () =>
  notifications.receiver.received.map(({ path, body }) => ({ path, ...JSON.parse(body) }));
const sent = () => messages().map(({ type, path }) => [type, path]);

describe('a schedule that awaits approval', () => {
  test('tells the operators with a link, and its owner the decision', async () => {
    const { id, decideBy } = await create();
    await tick(1);
    await tick(1);
    await fixture.approve(id);
    await tick(1);
    await rejectSchedule(fixture.context, id, 'Too often.');
    await tick(1);
    expect(sent()).toEqual([
      ['schedule.awaiting_approval', '/hook/operators'],
      ['schedule.approved', '/hook'],
      ['schedule.rejected', '/hook'],
    ]);
    const link = { schedule_id: id, console_url: `https://gleaner.test/console/schedules/${id}` };
    expect(messages().map(({ data }) => data)).toMatchObject([
      { ...link, decide_by: new Date(decideBy!).toISOString() },
      { ...link, decide_by: null, next_run_at: expect.any(String) },
      { ...link, reason: 'Too often.' },
    ]);
    expect(notifications.verified(notifications.receiver.received[2]!, webhook.secret).data.state).toBe(
      'rejected',
    );
  });

  test('reminds the operators once, and is rejected after 24 hours without a decision', async () => {
    const { id, decideBy } = await create();
    expect(decideBy).toBe(fixture.clock.now() + approvalWaitMs);
    await tick(1);
    await tick(22 * hour);
    await tick(1);
    expect(sent().slice(1)).toEqual([['schedule.approval_expiring', '/hook/operators']]);
    await tick(2 * hour - 3);
    expect(await fixture.get(id)).toMatchObject({ state: 'awaiting_approval' });
    await tick(1);
    await tick(1);
    expect(sent().slice(2)).toEqual([['schedule.rejected', '/hook']]);
    const reason = 'It was not approved within 24 hours.';
    expect(messages()[2].data).toMatchObject({ state: 'rejected', reason });
    expect(await fixture.get(id)).toMatchObject({ state: 'rejected', reason, decideBy: null, dueAt: null });
    await expect(fixture.approve(id)).rejects.toMatchObject({ code: 'conflict' });
  });

  test('has the full time again when its owner changes it', async () => {
    const { id } = await create();
    await tick(23 * hour);
    const changed = await updateSchedule(fixture.context, id, caller, { cron: '@daily' }, undefined);
    expect(changed.decideBy).toBe(fixture.clock.now() + approvalWaitMs);
    await tick(1);
    await tick(2 * hour);
    expect(await fixture.get(id)).toMatchObject({ state: 'awaiting_approval' });
    expect(sent().map(([type]) => type)).toEqual([
      'schedule.awaiting_approval',
      'schedule.awaiting_approval',
    ]);
    await tick(22 * hour);
    expect(await fixture.get(id)).toMatchObject({ state: 'rejected' });
    await updateSchedule(fixture.context, id, caller, {}, variantSold.request);
    expect(await fixture.get(id)).toMatchObject({ state: 'awaiting_approval' });
  });

  test('has no deadline any more once it is approved', async () => {
    const { id } = await create();
    const approved = await fixture.approve(id);
    expect(approved).toMatchObject({ decideBy: null, dueAt: approved.nextRunAt });
    await tick(25 * hour);
    expect(await fixture.get(id)).toMatchObject({ state: 'active' });
  });
});

test('several notifiers send one message', async () => {
  await create();
  await fixture.tick(1);
  const others = Array.from({ length: 4 }, () => createNotifier(notifications.context));
  await Promise.all(others.map((notifier) => notifications.poll(notifier)));
  expect(sent()).toEqual([['schedule.awaiting_approval', '/hook/operators']]);
});

test('the owner of a schedule that the service pauses gets one message', async () => {
  const poor = await fixture.createCaller(0);
  await setWebhook(notifications.context, poor.userId, { url: webhook.url, enabled: true });
  const { id } = await fixture.create(poor);
  for (let run = 0; run < 7; run++) await tick(minute);
  const reason = expect.stringMatching(/^Paused after 5 failed runs\. .*8 short\.$/);
  expect(messages()).toMatchObject([
    { type: 'schedule.paused', data: { schedule_id: id, reason, state: 'paused' } },
  ]);
});

test('a message does not disturb a run that another process is starting', async () => {
  const schedule = await fixture.create(caller, { request: csvRequest() });
  const { clock } = fixture;
  const { store } = fixture.context;
  await store.updateSchedule(schedule.id, 1, { notice: 'approved', noticeAt: clock.now() });
  const during = {
    ...fixture.context,
    store: {
      ...store,
      getScheduleRequest: async (id: string) => {
        await notifications.poll();
        return store.getScheduleRequest(id);
      },
    },
  };
  await clock.advance(minute);
  await sweep(during);
  expect(await fixture.get(schedule.id)).toMatchObject({ openRuns: [{}], pending: null, notice: null });
  expect(sent()).toEqual([['schedule.approved', '/hook']]);
});

describe.each(['before', 'after'] as const)('a crash %s each call', (when) => {
  test('neither loses nor repeats the end of a schedule that nobody decides on', async () => {
    const proceed = async (context: ScheduleFixture['context']) => {
      await sweep(context);
      await notifications.poll(createNotifier({ ...notifications.context, store: context.store }));
    };
    const survives = async (last: number): Promise<boolean> => {
      await openAccount();
      const schedule: Schedule = await create();
      const from = notifications.receiver.received.length;
      await notifications.poll();
      await fixture.clock.advance(approvalWaitMs);
      const victim = createCrashingProcess(fixture.context, last, when);
      await Promise.race([proceed(victim.context).catch(() => {}), victim.crashed]);
      for (let round = 0; round < 3; round++) {
        await fixture.clock.advance(2 * leaseMs + 1);
        await proceed(fixture.context);
      }
      const where = `crash ${last}, ${when} ${victim.crashedAt()}`;
      expect(await fixture.get(schedule.id), where).toMatchObject({ state: 'rejected', notice: null });
      const ids = notifications.receiver.received.slice(from).map(({ headers }) => headers['webhook-id']);
      const types = messages().slice(from);
      const distinct = new Map(ids.map((id, index) => [id, types[index]!.type]));
      expect([...distinct.values()].toSorted(), where).toEqual([
        'schedule.awaiting_approval',
        'schedule.rejected',
      ]);
      expect(ids.length - distinct.size, where).toBeLessThanOrEqual(1);
      return victim.isCrashed();
    };
    let last = 1;
    while (await survives(last)) last += 1;
    expect(last).toBeGreaterThan(20);
  });
});
