import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { createCrashingProcess, sweptFaults } from '../../test/support/faults/crash.ts';
import {
  minute,
  openScheduleFixture,
  type ScheduleFixture,
} from '../../test/support/jobs/schedules.ts';
import { deleteSchedule } from '../store/schedules.ts';
import { sweep } from '../sweep/sweep.ts';
import { leaseMs, runDueSchedules } from './advance.ts';
import { runSchedule } from './change.ts';

let fixture: ScheduleFixture;
beforeEach(async () => {
  fixture = await openScheduleFixture();
});
afterEach(() => fixture.close());

/** Calls of a run, at least. */
const minCalls = 12;

describe.each(sweptFaults)('a fault at each call of a run: %s', (when) => {
  test('neither loses nor repeats the run', async () => {
    const { context, clock } = fixture;
    let last = 0;
    for (let isCrashed = true; isCrashed; ) {
      last += 1;
      const caller = await fixture.createCaller(100);
      const schedule = await fixture.create(caller);
      await clock.advance(minute);
      const victim = createCrashingProcess(context, last, when);
      await runDueSchedules(victim.context).catch(() => {});
      isCrashed = victim.isCrashed();
      // Another process takes over when the claim has expired and the interrupted submit counts as
      // dead.
      for (let round = 0; round < 2; round++) {
        await clock.advance(leaseMs);
        await sweep(context);
      }
      const where = `call ${last}, ${when} ${victim.crashedAt()}`;
      const { items: jobs } = await context.store.jobs.list(
        { userId: caller.userId },
        { limit: 9 },
      );
      expect(
        jobs.map(({ state }) => state),
        where,
      ).toEqual(['processing']);
      expect(await fixture.balance(caller.userId), where).toBe(92);
      const [run] = await fixture.runs(schedule.id);
      expect(run, where).toMatchObject({ jobId: jobs[0]!.id, state: 'running', cost: 8 });
      expect((await fixture.get(schedule.id)).creditsSpent, where).toBe(8);
      await deleteSchedule(context.store, schedule.id);
    }
    expect(last).toBeGreaterThan(minCalls);
    expect(await fixture.problems()).toEqual([]);
  });

  test('starts a manual run once', async () => {
    const { context, clock } = fixture;
    let last = 0;
    for (let isCrashed = true; isCrashed; ) {
      last += 1;
      const caller = await fixture.createCaller(100);
      const schedule = await fixture.create(caller, { cron: '@yearly' });
      const victim = createCrashingProcess(context, last, when);
      await runSchedule(victim.context, schedule.id, caller).catch(() => {});
      isCrashed = victim.isCrashed();
      for (let round = 0; round < 2; round++) {
        await clock.advance(leaseMs);
        await sweep(context);
      }
      const where = `call ${last}, ${when} ${victim.crashedAt()}`;
      const { items: jobs } = await context.store.jobs.list(
        { userId: caller.userId },
        { limit: 9 },
      );
      const { openRuns, pending, creditsSpent } = await fixture.get(schedule.id);
      expect(
        openRuns.map(({ jobId }) => jobId),
        where,
      ).toEqual(jobs.map(({ id }) => id));
      expect(pending, where).toBeNull();
      expect(creditsSpent, where).toBe(jobs.length * 8);
      expect(await fixture.balance(caller.userId), where).toBe(100 - jobs.length * 8);
      expect(jobs.length, where).toBeLessThanOrEqual(1);
      await deleteSchedule(context.store, schedule.id);
    }
    expect(last).toBeGreaterThan(minCalls);
  });
});
