import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { findStores } from '../../test/support/engines/stores.ts';
import { createCrashingProcess } from '../../test/support/faults/crash.ts';
import {
  minute,
  openScheduleFixture,
  type ScheduleFixture,
} from '../../test/support/jobs/schedules.ts';
import { approvalWaitMs } from '../jobs/context.ts';
import { approve, cancel, reject } from '../jobs/steps/decide.ts';
import { deleteSchedule, writeSchedule } from '../store/schedules.ts';
import { sweep } from '../sweep/sweep.ts';
import { leaseMs, runDueSchedules } from './advance.ts';
import { pauseSchedule, resumeSchedule, runSchedule, type ScheduleCaller } from './change.ts';
import { type NewSchedule, type ScheduleFields, updateSchedule } from './edit.ts';

let fixture: ScheduleFixture;
let caller: ScheduleCaller;
const open = async (...options: Parameters<typeof openScheduleFixture>) => {
  fixture = await openScheduleFixture(...options);
  caller = await fixture.createCaller(1_000);
};
afterEach(() => fixture.close());

/** Request of a kind that requires approval and costs 10 credits an item. */
const items = (count: number) =>
  JSON.stringify({
    items: Array.from({ length: count }, (_, index) => ({
      item_id: `${index + 1}`,
      shop_id: '7',
      country: 'sg',
    })),
  });
const variantSold = { kind: 'variant_sold', request: items(2) };
const create = (fields: Partial<NewSchedule> = {}) =>
  fixture.create(caller, { ...variantSold, ...fields });
const update = (id: string, changes: Partial<ScheduleFields>, request?: string) =>
  updateSchedule(fixture.context, id, caller, changes, request);
/** Returns the jobs of the caller, oldest first. */
const jobsOf = async () =>
  (
    await fixture.context.store.jobs.list({ userId: caller.userId }, { limit: 100 })
  ).items.toReversed();
const statesOf = async () => (await jobsOf()).map(({ state }) => state);
const lastJobId = async () => (await jobsOf()).at(-1)!.id;
/** Approves the waiting job of a schedule, and ends it. */
const approveAndEnd = async (id: string) => {
  const { id: jobId } = await fixture.approve(id);
  await fixture.endJob(jobId);
};

describe('a schedule of a kind that requires approval', () => {
  beforeEach(() => open());

  test('starts with a job that awaits approval, which covers the later runs', async () => {
    const { id } = await create();
    await fixture.tick(minute);
    expect(await jobsOf()).toMatchObject([
      { state: 'awaiting_approval', schedule: { id, version: 1 }, cost: 20 },
    ]);
    expect(await fixture.balance(caller.userId)).toBe(1_000);
    await approveAndEnd(id);
    await fixture.tick(minute);
    expect(await jobsOf()).toMatchObject([
      { state: 'completed', decidedBy: 'operator-1' },
      { state: 'processing', decidedBy: 'operator-1', decideBy: null, cost: 20 },
    ]);
    expect(await fixture.get(id)).toMatchObject({ approval: { by: 'operator-1', cost: 20 } });
    expect(await fixture.balance(caller.userId)).toBe(960);
  });

  test('is approved by a run that has not ended', async () => {
    const { id } = await create({ overlap: 'cancel' });
    await fixture.tick(minute);
    await fixture.approve(id);
    await fixture.tick(minute);
    expect(await statesOf()).toEqual(['terminated', 'processing']);
  });

  test.each(['skip', 'cancel'] as const)(
    'keeps the run that awaits approval, with `%s`',
    async (overlap) => {
      const { id } = await create({ overlap });
      await fixture.tick(minute);
      await fixture.tick(minute);
      expect(await statesOf()).toEqual(['awaiting_approval']);
      expect(await fixture.runs(id)).toMatchObject([
        { state: 'running' },
        { state: 'skipped', reason: 'The last run awaits approval.' },
      ]);
    },
  );

  test('is approved by a manual run, also while it is paused', async () => {
    const { id } = await create();
    await pauseSchedule(fixture.context, id, caller.userId);
    await runSchedule(fixture.context, id, caller);
    await approveAndEnd(id);
    await fixture.tick(20_000);
    await resumeSchedule(fixture.context, id, caller);
    await fixture.tick(minute);
    expect(await statesOf()).toEqual(['completed', 'processing']);
  });

  test('requests approval of each manual run besides its scheduled runs', async () => {
    const { id } = await create({ cron: '0 0 1 1 *' });
    for (let run = 0; run < 3; run += 1) {
      await runSchedule(fixture.context, id, caller);
      expect((await statesOf()).at(-1)).toBe('awaiting_approval');
      await approveAndEnd(id);
      await fixture.tick(20_000);
    }
    expect(await fixture.get(id)).toMatchObject({ state: 'active', approval: { cost: 20 } });
  });

  test('stays approved if a further manual run is rejected', async () => {
    const { id } = await create();
    await fixture.tick(minute);
    await approveAndEnd(id);
    await fixture.tick(20_000);
    await runSchedule(fixture.context, id, caller);
    await reject(fixture.context, await lastJobId(), 'operator-1', 'Once is enough.');
    await fixture.tick(20_000);
    expect(await fixture.get(id)).toMatchObject({ state: 'active' });
    await fixture.tick(minute);
    expect(await statesOf()).toEqual(['completed', 'rejected', 'processing']);
  });

  test('asks again after its start moved to an earlier time', async () => {
    const { id } = await create({ startAt: fixture.clock.now() + 30_000 });
    await fixture.tick(minute);
    await approveAndEnd(id);
    await fixture.tick(20_000);
    expect(await update(id, { startAt: null })).toMatchObject({ version: 2 });
  });

  test('asks again for a run that costs more than the approved one', async () => {
    const { id } = await create();
    await fixture.tick(minute);
    await approveAndEnd(id);
    await fixture.tick(20_000);
    // As if the price had risen since.
    const { revision, approval } = await fixture.get(id);
    await writeSchedule(
      fixture.context.store,
      { id, revision },
      { approval: { ...approval!, cost: 19 } },
    );
    await fixture.tick(minute);
    expect(await statesOf()).toEqual(['completed', 'awaiting_approval']);
    await approveAndEnd(id);
    await fixture.tick(minute);
    expect(await statesOf()).toEqual(['completed', 'completed', 'processing']);
  });

  test.each<[string, Partial<ScheduleFields>, string | undefined, boolean]>([
    ['a new request', {}, items(3), false],
    ['other times', { cron: '*/2 * * * *' }, undefined, false],
    ['a later end', { endAt: 4e12 }, undefined, false],
    ['no end', { endAt: null }, undefined, false],
    ['more credits', { maxTotalCredits: 201 }, undefined, false],
    ['no limit of a run', { options: {} }, undefined, false],
    [
      'lower limits',
      { maxTotalCredits: 199, endAt: 2e12, options: { maxCredits: 20 } },
      undefined,
      true,
    ],
    ['another name', { name: 'New', overlap: 'queue' }, undefined, true],
  ])('with %s', async (_name, changes, request, isApproved) => {
    const limits = { maxTotalCredits: 200, endAt: 3e12, options: { maxCredits: 30 } };
    const { id } = await create({ ...limits });
    await fixture.tick(minute);
    await approveAndEnd(id);
    await fixture.tick(20_000);
    const changed = await update(id, changes, request);
    expect(changed).toMatchObject({ state: 'active', version: isApproved ? 1 : 2 });
    await fixture.tick(2 * minute);
    expect((await statesOf()).at(-1)).toBe(isApproved ? 'processing' : 'awaiting_approval');
  });

  test('cancels a run that awaits approval of an earlier request, which can no longer be decided', async () => {
    const { id } = await create();
    await fixture.tick(minute);
    const first = await lastJobId();
    await update(id, {}, items(3));
    await fixture.tick(minute);
    expect(await jobsOf()).toMatchObject([
      { id: first, state: 'rejected', reason: 'The schedule was changed.' },
      { state: 'awaiting_approval', schedule: { version: 2 }, cost: 30 },
    ]);
    expect(await fixture.get(id)).toMatchObject({ state: 'active', failures: 0, approval: null });
  });

  test('is not approved by a job of an earlier request that is approved after the change', async () => {
    const { id } = await create();
    await fixture.tick(minute);
    await update(id, {}, items(3));
    await approveAndEnd(id);
    await fixture.tick(minute);
    expect(await fixture.get(id)).toMatchObject({ approval: null });
    expect(await statesOf()).toEqual(['completed', 'awaiting_approval']);
  });

  test('submits a run that was begun before a change with the new request, which awaits approval', async () => {
    const { id } = await create({ overlap: 'queue' });
    await fixture.tick(minute);
    const { id: first } = await fixture.approve(id);
    await fixture.tick(minute);
    expect(await fixture.get(id)).toMatchObject({
      pending: { isQueued: true },
      approval: { cost: 20 },
    });
    await update(id, {}, items(3));
    await fixture.endJob(first);
    await fixture.tick(20_000);
    expect(await jobsOf()).toMatchObject([
      { state: 'completed' },
      { state: 'awaiting_approval', schedule: { version: 2 }, totalUnits: 3 },
    ]);
  });

  test('is rejected with its run, and active again after a change', async () => {
    const { id } = await create();
    await fixture.tick(minute);
    await reject(fixture.context, await lastJobId(), 'operator-1', 'Too often.');
    await fixture.tick(20_000);
    expect(await fixture.get(id)).toMatchObject({
      state: 'rejected',
      reason: 'Too often.',
      nextRunAt: null,
      dueAt: null,
      creditsSpent: 0,
    });
    expect(await fixture.runs(id)).toMatchObject([{ state: 'rejected', cost: 0, refunded: 0 }]);
    await expect(resumeSchedule(fixture.context, id, caller)).rejects.toMatchObject({
      code: 'conflict',
    });
    await expect(runSchedule(fixture.context, id, caller)).rejects.toMatchObject({
      code: 'conflict',
    });
    expect(await update(id, { name: 'Less' })).toMatchObject({
      state: 'active',
      version: 2,
      reason: '',
    });
    await fixture.tick(minute);
    expect(await statesOf()).toEqual(['rejected', 'awaiting_approval']);
    expect(await fixture.balance(caller.userId)).toBe(1_000);
  });

  test('continues after its owner cancels a run that awaits approval', async () => {
    const { id } = await create();
    await fixture.tick(minute);
    await cancel(fixture.context, await lastJobId(), { operatorId: null, reason: '' });
    await fixture.tick(minute);
    expect(await statesOf()).toEqual(['rejected', 'awaiting_approval']);
    expect(await fixture.get(id)).toMatchObject({ state: 'active', failures: 0 });
  });

  test('asks again after an operator has paused it', async () => {
    const { id } = await create();
    await fixture.tick(minute);
    await approveAndEnd(id);
    await fixture.tick(20_000);
    expect(await fixture.get(id)).toMatchObject({ approval: { cost: 20 } });
    await pauseSchedule(fixture.context, id, null);
    expect(await fixture.get(id)).toMatchObject({ state: 'paused', approval: null, version: 2 });
    await resumeSchedule(fixture.context, id, caller);
    await fixture.tick(minute);
    expect(await statesOf()).toEqual(['completed', 'awaiting_approval']);
  });
});

test('a schedule whose runs need no approval while approvals are disabled asks once they are enabled', async () => {
  await open({ approval: false });
  const { id } = await create();
  await fixture.tick(minute);
  await fixture.endJob(await lastJobId());
  await fixture.clock.advance(minute);
  await runDueSchedules({
    ...fixture.context,
    settings: { ...fixture.context.settings, approval: true },
  });
  expect(await statesOf()).toEqual(['completed', 'awaiting_approval']);
  expect(await fixture.get(id)).toMatchObject({ approval: null });
});

describe.each(await findStores())('on $name', ({ open: openStore }) => {
  describe.skipIf(openStore === null)('a schedule on whose run no operator decides', () => {
    test('is rejected at the deadline of the run', async () => {
      await open({}, openStore?.());
      const { id } = await create();
      await fixture.tick(minute);
      const { decideBy } = (await jobsOf())[0]!;
      await fixture.clock.advance(approvalWaitMs);
      expect(decideBy).toBe(fixture.clock.now());
      await sweep(fixture.context);
      await fixture.tick(minute);
      const reason = 'It was not approved within 24 hours.';
      expect(await fixture.get(id)).toMatchObject({
        state: 'rejected',
        notice: 'rejected',
        reason,
      });
    });

    test('is approved or rejected, but not both, if an operator decides at the last moment', async () => {
      await open({}, openStore?.());
      const { id } = await create({ cron: '@daily' });
      await runSchedule(fixture.context, id, caller);
      await fixture.clock.advance(approvalWaitMs);
      const [approved] = await Promise.allSettled([
        approve(fixture.context, await lastJobId(), 'operator-1'),
        sweep(fixture.context),
      ]);
      await sweep(fixture.context);
      await fixture.tick(leaseMs);
      const { state, approval } = await fixture.get(id);
      const expected =
        approved.status === 'fulfilled' ? ['active', 'operator-1'] : ['rejected', undefined];
      expect([state, approval?.by]).toEqual(expected);
    });

    test.each(['before', 'after'] as const)(
      'is rejected once after a crash %s each call',
      async (when) => {
        await open({}, openStore?.());
        let last = 0;
        for (let isCrashed = true; isCrashed; ) {
          last += 1;
          const { id } = await create({ cron: '@daily' });
          await runSchedule(fixture.context, id, caller);
          await fixture.clock.advance(20_000);
          await reject(fixture.context, await lastJobId(), 'operator-1', 'No.');
          const victim = createCrashingProcess(fixture.context, last, when);
          await runDueSchedules(victim.context).catch(() => {});
          isCrashed = victim.isCrashed();
          await fixture.tick(leaseMs);
          const where = `crash ${last}, ${when} ${victim.crashedAt()}`;
          expect(await fixture.get(id), where).toMatchObject({
            state: 'rejected',
            creditsSpent: 0,
          });
          expect(await fixture.runs(id), where).toMatchObject([{ state: 'rejected' }]);
          await deleteSchedule(fixture.context.store, id);
        }
        expect(last).toBeGreaterThan(3);
      },
    );
  });
});
