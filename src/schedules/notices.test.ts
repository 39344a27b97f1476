import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { createCrashingProcess } from '../../test/support/faults/crash.ts';
import {
  type NotificationFixture,
  openNotifications,
} from '../../test/support/jobs/notifications.ts';
import {
  csvRequest,
  minute,
  type ScheduleFixture,
  withSchedules,
} from '../../test/support/jobs/schedules.ts';
import { reject } from '../jobs/steps/decide.ts';
import { createNotifier } from '../notify/notifier.ts';
import { setWebhook } from '../notify/webhook.ts';
import type { Webhook } from '../store/documents.ts';
import { type Schedule, type ScheduleRun, writeSchedule } from '../store/schedules.ts';
import { wrapMethods } from '../store/wrap.ts';
import { sweep } from '../sweep/sweep.ts';
import { leaseMs } from './advance.ts';
import { runSchedule, type ScheduleCaller } from './change.ts';

let notifications: NotificationFixture;
let fixture: ScheduleFixture;
let caller: ScheduleCaller;
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
/** Creates a schedule whose runs await approval. */
const create = () => fixture.create(caller, { ...variantSold, cron: '@daily' });
/** Advances the clock and does what processes do then. */
const tick = async (ms: number) => {
  await fixture.tick(ms);
  await notifications.poll();
};
const messages = () =>
  notifications.receiver.received.map(({ path, body }) => ({ path, ...JSON.parse(body) }));
const sent = () => messages().map(({ type, path }) => [type, path]);

test('the operators get a link to the schedule of a run, and its owner learns of the rejection', async () => {
  const { id } = await create();
  await runSchedule(fixture.context, id, caller);
  await tick(1);
  const { jobId } = (await fixture.get(id)).openRuns[0]!;
  await reject(fixture.context, jobId, 'operator-1', 'Too often.');
  await tick(20_000);
  await tick(1);
  expect(sent().toSorted()).toEqual([
    ['job.awaiting_approval', '/hook/operators'],
    ['job.rejected', '/hook'],
    ['schedule.rejected', '/hook'],
  ]);
  const link = { schedule_id: id, console_url: `https://gleaner.test/console/schedules/${id}` };
  const dataOf = (name: string) => messages().find(({ type }) => type === name)!.data;
  expect(dataOf('job.awaiting_approval')).toMatchObject({ job_id: jobId, schedule_id: id });
  expect(dataOf('schedule.rejected')).toMatchObject({
    ...link,
    reason: 'Too often.',
    state: 'rejected',
  });
});

test('several notifiers send one message', async () => {
  const { id } = await create();
  await runSchedule(fixture.context, id, caller);
  const { jobId } = (await fixture.get(id)).openRuns[0]!;
  await reject(fixture.context, jobId, 'operator-1', '');
  await notifications.poll();
  await fixture.tick(20_000);
  const others = Array.from({ length: 4 }, () => createNotifier(notifications.context));
  await Promise.all(others.map((notifier) => notifications.poll(notifier)));
  expect(sent().filter(([type]) => type === 'schedule.rejected')).toHaveLength(1);
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
  await writeSchedule(
    store,
    { id: schedule.id, revision: 1 },
    { notice: 'paused', noticeAt: clock.now() },
  );
  const during = {
    ...fixture.context,
    store: wrapMethods(store, (name, method) => async (...parameters) => {
      if (name === 'schedules.pick') await notifications.poll();
      return method(...parameters);
    }),
  };
  await clock.advance(minute);
  await sweep(during);
  expect(await fixture.get(schedule.id)).toMatchObject({
    openRuns: [{}],
    pending: null,
    notice: null,
  });
  expect(sent()).toEqual([['schedule.paused', '/hook']]);
});

describe.each(['before', 'after'] as const)('a crash %s each call', (when) => {
  test('neither loses nor repeats the end of a schedule whose run is rejected', async () => {
    const proceed = async (context: ScheduleFixture['context']) => {
      await sweep(context);
      await notifications.poll(createNotifier({ ...notifications.context, store: context.store }));
    };
    const survives = async (last: number): Promise<boolean> => {
      await openAccount();
      const schedule: Schedule = await create();
      const { jobId } = (await runSchedule(fixture.context, schedule.id, caller)) as ScheduleRun;
      await notifications.poll();
      await reject(fixture.context, jobId!, 'operator-1', 'No.');
      await notifications.poll();
      const from = notifications.receiver.received.length;
      await fixture.clock.advance(20_000);
      const victim = createCrashingProcess(fixture.context, last, when);
      await Promise.race([proceed(victim.context).catch(() => {}), victim.crashed]);
      for (let round = 0; round < 3; round++) {
        await fixture.clock.advance(2 * leaseMs + 1);
        await proceed(fixture.context);
      }
      const where = `crash ${last}, ${when} ${victim.crashedAt()}`;
      expect(await fixture.get(schedule.id), where).toMatchObject({
        state: 'rejected',
        notice: null,
      });
      const ids = notifications.receiver.received
        .slice(from)
        .map(({ headers }) => headers['webhook-id']);
      const types = new Set(
        messages()
          .slice(from)
          .map(({ type }) => type),
      );
      expect([...types], where).toEqual(['schedule.rejected']);
      // At most the message that the crash interrupted is sent again, under the same id.
      expect(new Set(ids).size, where).toBe(1);
      expect(ids.length, where).toBeLessThanOrEqual(2);
      return victim.isCrashed();
    };
    let last = 1;
    while (await survives(last)) last += 1;
    expect(last).toBeGreaterThan(20);
  });
});
