import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { durationsIn, grant } from '../../test/support/jobs/jobs.ts';
import {
  csvRequest,
  minute,
  openScheduleFixture,
  type ScheduleFixture,
} from '../../test/support/jobs/schedules.ts';
import type { Fault } from '../contract/fault.ts';
import { revokeApiKey } from '../store/keys.ts';
import { deleteSchedule, type Schedule } from '../store/schedules.ts';
import { suspendUser } from '../store/users.ts';
import { replaceMethods } from '../store/wrap.ts';
import { runDueSchedules } from './advance.ts';
import { pauseSchedule, resumeSchedule, runSchedule } from './change.ts';
import { updateSchedule } from './edit.ts';

let fixture: ScheduleFixture;
beforeEach(async () => {
  fixture = await openScheduleFixture();
});
afterEach(() => fixture.close());

const jobsOf = async (userId: string) =>
  (await fixture.context.store.jobs.list({ userId }, { limit: 100 })).items;
const statesOf = async ({ id }: Schedule) =>
  (await fixture.runs(id)).map(({ state, reason }) => [state, reason]);

describe('a run', () => {
  test('is an ordinary job at its time, charged to the owner and the key', async () => {
    const caller = await fixture.createCaller(100, { creditCeiling: 50 });
    const schedule = await fixture.create(caller);
    await runDueSchedules(fixture.context);
    expect(await jobsOf(caller.userId)).toEqual([]);
    await fixture.tick(minute);
    const [job] = await jobsOf(caller.userId);
    expect(job).toMatchObject({
      userId: caller.userId,
      keyId: caller.keyId,
      kind: 'get_pc_bulk',
      state: 'processing',
      cost: 8,
      totalUnits: 1,
    });
    expect(await fixture.runs(schedule.id)).toMatchObject([
      {
        jobId: job!.id,
        state: 'running',
        cost: 8,
        trigger: 'schedule',
        scheduledFor: schedule.nextRunAt,
      },
    ]);
    expect(await fixture.get(schedule.id)).toMatchObject({
      nextRunAt: schedule.nextRunAt! + minute,
      creditsSpent: 8,
      pending: null,
    });
    expect(await fixture.context.store.apiKeys.get(caller.keyId)).toMatchObject({
      creditsSpent: 8,
    });
  });

  test('has the name of its schedule, unless the options name another', async () => {
    const caller = await fixture.createCaller(100);
    const named = await fixture.create(caller, { name: ' Nightly\nprices ' });
    await fixture.tick(minute);
    const [first] = await jobsOf(caller.userId);
    expect(first!.options).toEqual({ name: 'Nightly prices' });
    expect((await fixture.get(named.id))!.options).toEqual({});
    await deleteSchedule(fixture.context.store, named.id);
    await fixture.create(caller, { name: 'Nightly', options: { name: 'Prices' } });
    await fixture.tick(minute);
    expect((await jobsOf(caller.userId)).map(({ options }) => options.name)).toEqual([
      'Prices',
      'Nightly prices',
    ]);
  });

  test('has the result of its job, and its refunds are not spent', async () => {
    const caller = await fixture.createCaller(100);
    const schedule = await fixture.create(caller);
    await fixture.tick(minute);
    const [run] = await fixture.runs(schedule.id);
    await fixture.endJob(run!.jobId, 'partial_complete', 3);
    await fixture.tick(20_000);
    expect(await fixture.runs(schedule.id)).toMatchObject([
      { state: 'partial_complete', refunded: 3, endedAt: fixture.clock.now() - 20_000 },
    ]);
    expect(await fixture.get(schedule.id)).toMatchObject({
      creditsSpent: 5,
      openRuns: [],
      failures: 0,
    });
  });

  test('is started exactly once by one of many processes', async () => {
    const caller = await fixture.createCaller(1_000);
    const schedules = [];
    for (let index = 0; index < 6; index++) schedules.push(await fixture.create(caller));
    await fixture.clock.advance(minute);
    await Promise.all(Array.from({ length: 5 }, () => runDueSchedules(fixture.context)));
    await runDueSchedules(fixture.context);
    expect(await jobsOf(caller.userId)).toHaveLength(6);
    for (const { id } of schedules) expect(await fixture.runs(id)).toHaveLength(1);
    expect(await fixture.balance(caller.userId)).toBe(1_000 - 48);
  });

  test('starts later than others if too many are due at once', async () => {
    const caller = await fixture.createCaller(10_000);
    for (let index = 0; index < 30; index++) await fixture.create(caller);
    await fixture.clock.advance(minute);
    const { store } = fixture.context;
    const slow = replaceMethods(store, {
      schedules: {
        claimDue: async (...parameters) => {
          await fixture.clock.advance(1_000);
          return store.schedules.claimDue(...parameters);
        },
      },
    });
    await runDueSchedules({ ...fixture.context, store: slow });
    expect(await jobsOf(caller.userId)).toHaveLength(20);
    await runDueSchedules(fixture.context);
    expect(await jobsOf(caller.userId)).toHaveLength(30);
  });
});

describe('a run that is due while the last one has not ended', () => {
  test('counts against the key that changes the schedule while the run waits', async () => {
    const owner = await fixture.createCaller(1_000);
    const schedule = await fixture.create(owner, { overlap: 'queue' });
    await fixture.tick(minute);
    const [first] = await fixture.runs(schedule.id);
    await fixture.tick(minute);
    expect(await fixture.get(schedule.id)).toMatchObject({ pending: { isQueued: true } });
    const keyId = await fixture.createKey(owner.userId, { creditCeiling: 0 });
    const rows = Array.from({ length: 100 }, (_, row) => `sg,77,3000000${1000 + row}\n`);
    const request = csvRequest(`region,shop_id,item_id\n${rows.join('')}`);
    await updateSchedule(fixture.context, schedule.id, { ...owner, keyId }, {}, request);
    await fixture.endJob(first!.jobId);
    await fixture.tick(20_000);
    await fixture.tick(20_000);
    expect(await fixture.balance(owner.userId)).toBe(1_000 - 8);
    expect(await statesOf(schedule)).toEqual([
      ['completed', ''],
      ['not_submitted', expect.stringContaining('ceiling')],
    ]);
  });

  test('is skipped', async () => {
    const schedule = await fixture.create(await fixture.createCaller(100));
    await fixture.tick(minute);
    await fixture.tick(minute);
    expect(await statesOf(schedule)).toEqual([
      ['running', ''],
      ['skipped', 'The last run has not ended.'],
    ]);
    expect(await fixture.get(schedule.id)).toMatchObject({ state: 'active', failures: 0 });
  });

  test('waits with the rule queue, and further ones are skipped', async () => {
    const schedule = await fixture.create(await fixture.createCaller(100), { overlap: 'queue' });
    await fixture.tick(minute);
    const [first] = await fixture.runs(schedule.id);
    await fixture.tick(minute);
    await fixture.tick(minute);
    expect(await statesOf(schedule)).toEqual([
      ['running', ''],
      ['skipped', 'An earlier run is waiting.'],
    ]);
    await fixture.endJob(first!.jobId);
    await fixture.tick(10_000);
    expect((await statesOf(schedule)).map(([state]) => state).sort()).toEqual([
      'completed',
      'running',
      'skipped',
    ]);
  });

  test('cancels the job of the last one with the rule cancel', async () => {
    const schedule = await fixture.create(await fixture.createCaller(100), { overlap: 'cancel' });
    await fixture.tick(minute);
    await fixture.tick(minute);
    await fixture.tick(20_000);
    expect((await statesOf(schedule)).map(([state]) => state)).toEqual(['terminated', 'running']);
    expect(await fixture.get(schedule.id)).toMatchObject({ creditsSpent: 8, failures: 0 });
  });

  test('does not cancel that job with the rule cancel if it cannot run itself', async () => {
    const caller = await fixture.createCaller(100);
    await fixture.create(caller, { overlap: 'cancel' });
    const limited = await fixture.create(caller, { overlap: 'cancel', maxTotalCredits: 15 });
    await fixture.tick(minute);
    await revokeApiKey(fixture.context.store, caller.keyId, fixture.clock.now());
    await fixture.tick(minute);
    expect((await jobsOf(caller.userId)).map(({ state }) => state)).toEqual([
      'processing',
      'processing',
    ]);
    expect((await statesOf(limited)).map(([state]) => state)).toEqual(['running', 'skipped']);
  });
});

describe('runs that were due while no process was running', () => {
  test('are made up for by one run', async () => {
    const schedule = await fixture.create(await fixture.createCaller(100));
    await fixture.tick(60 * minute);
    expect(await fixture.runs(schedule.id)).toMatchObject([
      { trigger: 'missed', state: 'running' },
    ]);
    expect((await fixture.get(schedule.id)).nextRunAt).toBe(schedule.nextRunAt! + 60 * minute);
  });

  test('are skipped with the rule skip', async () => {
    const schedule = await fixture.create(await fixture.createCaller(100), { missed: 'skip' });
    await fixture.tick(60 * minute);
    expect(await statesOf(schedule)).toEqual([
      ['skipped', 'The service was down when the run was due.'],
    ]);
    await fixture.tick(minute);
    expect((await fixture.runs(schedule.id)).at(-1)).toMatchObject({
      state: 'running',
      trigger: 'schedule',
    });
  });
});

describe('a schedule', () => {
  test('is paused after 5 failed runs in a row', async () => {
    const schedule = await fixture.create(await fixture.createCaller(0));
    for (let run = 0; run < 4; run++) await fixture.tick(minute);
    expect(await fixture.get(schedule.id)).toMatchObject({ state: 'active', failures: 4 });
    for (let run = 0; run < 3; run++) await fixture.tick(minute);
    const short = 'The work costs 8 credits, the account has 0: 8 short.';
    expect(await statesOf(schedule)).toEqual(
      Array.from({ length: 5 }, () => ['not_submitted', short]),
    );
    const reason = `Paused after 5 failed runs. ${short}`;
    expect(await fixture.get(schedule.id)).toMatchObject({
      state: 'paused',
      reason,
      nextRunAt: null,
      notice: 'paused',
    });
  });

  test('counts failed jobs as failures, until one succeeds', async () => {
    const schedule = await fixture.create(await fixture.createCaller(1_000));
    const run = async (state: 'failed' | 'completed') => {
      await fixture.tick(minute - (fixture.clock.now() % minute));
      await fixture.endJob(
        (await fixture.runs(schedule.id)).at(-1)!.jobId,
        state,
        state === 'failed' ? 8 : 0,
      );
      await fixture.tick(20_000);
      return (await fixture.get(schedule.id)).failures;
    };
    expect([
      await run('failed'),
      await run('failed'),
      await run('completed'),
      await run('failed'),
    ]).toEqual([1, 2, 0, 1]);
  });

  test('ends when its credits do not cover another run', async () => {
    const schedule = await fixture.create(await fixture.createCaller(100), { maxTotalCredits: 10 });
    await fixture.tick(minute);
    await fixture.endJob((await fixture.runs(schedule.id))[0]!.jobId);
    await fixture.tick(minute);
    const reason = 'A run costs 8 credits, and 8 of 10 are spent.';
    expect(await statesOf(schedule)).toEqual([
      ['completed', ''],
      ['skipped', reason],
    ]);
    expect(await fixture.get(schedule.id)).toMatchObject({
      state: 'ended',
      reason,
      nextRunAt: null,
    });
  });

  test('ends after its last time', async () => {
    const caller = await fixture.createCaller(100);
    const endAt = fixture.clock.now() + minute + 1;
    const schedule = await fixture.create(caller, { endAt });
    await fixture.tick(minute);
    expect(await fixture.get(schedule.id)).toMatchObject({ state: 'ended', nextRunAt: null });
    await fixture.endJob((await fixture.runs(schedule.id))[0]!.jobId);
    await fixture.tick(20_000);
    expect(await statesOf(schedule)).toEqual([['completed', '']]);
    expect(await fixture.get(schedule.id)).toMatchObject({ dueAt: null });
  });

  test('is paused when its key is revoked, and resumes with another key', async () => {
    const caller = await fixture.createCaller(100);
    const schedule = await fixture.create(caller);
    await revokeApiKey(fixture.context.store, caller.keyId, fixture.clock.now());
    await fixture.tick(minute);
    const why = 'The API key of the schedule has been revoked.';
    expect(await statesOf(schedule)).toEqual([['skipped', why]]);
    expect(await fixture.get(schedule.id)).toMatchObject({
      state: 'paused',
      reason: `${why} Resume the schedule with another key.`,
    });
    const other = await fixture.createCaller(0);
    const key = (await fixture.context.store.apiKeys.get(other.keyId))!;
    await fixture.context.store.apiKeys.insert({
      ...key,
      id: 'k2',
      hash: 'h2',
      userId: caller.userId,
    });
    await resumeSchedule(fixture.context, schedule.id, { ...caller, keyId: 'k2' });
    await fixture.tick(minute);
    expect((await jobsOf(caller.userId)).map(({ keyId }) => keyId)).toEqual(['k2']);
  });

  test('does not run while its owner is suspended', async () => {
    const caller = await fixture.createCaller(100);
    const schedule = await fixture.create(caller);
    await suspendUser(fixture.context.store, caller.userId, fixture.clock.now());
    await fixture.tick(minute);
    expect(await statesOf(schedule)).toEqual([['skipped', 'The account is suspended.']]);
    expect(await fixture.get(schedule.id)).toMatchObject({ state: 'active', failures: 1 });
  });

  test('starts its run later while the engines are unavailable', async () => {
    const caller = await fixture.createCaller(100);
    const schedule = await fixture.create(caller);
    fixture.setFreeBytes(0);
    await fixture.tick(minute);
    expect(await statesOf(schedule)).toEqual([]);
    fixture.setFreeBytes(1e9);
    await fixture.tick(30_000);
    expect(await statesOf(schedule)).toEqual([['running', '']]);
  });
});

test('runs are counted by result, and their delays measured', async () => {
  const caller = await fixture.createCaller(100);
  const schedule = await fixture.create(caller, { overlap: 'queue' });
  const { id } = await fixture.create(caller, { cron: '@yearly' });
  fixture.metrics.take();
  await fixture.tick(minute + 7_000);
  await fixture.endJob((await fixture.runs(schedule.id))[0]!.jobId, 'partial_complete');
  await runSchedule(fixture.context, id, caller);
  await fixture.tick(20_000);
  await runSchedule(fixture.context, id, caller);
  await fixture.tick(minute);
  // This one waits for the last one.
  await fixture.tick(minute);
  await fixture.endJob((await fixture.runs(schedule.id)).at(-1)!.jobId);
  await fixture.tick(20_000);
  const report = fixture.metrics.take();
  const runs = report.counters.filter(({ name }) => name === 'gleaner_schedule_runs_total');
  expect(runs.map(({ labels, value }) => [Object.values(labels)[0], value]).toSorted()).toEqual([
    ['completed', 1],
    ['partial_complete', 1],
    ['skipped', 1],
  ]);
  expect(durationsIn(report, 'gleaner_schedule_run_delay_seconds')).toEqual({
    count: 2,
    sumMs: 34_000,
  });
});

describe('runSchedule()', () => {
  test('starts a run of a paused schedule with the key of the caller, and keeps the times', async () => {
    const caller = await fixture.createCaller(100);
    const schedule = await fixture.create(caller);
    await pauseSchedule(fixture.context, schedule.id, caller.userId);
    const run = await runSchedule(fixture.context, schedule.id, caller);
    expect(run).toMatchObject({ trigger: 'manual', state: 'running' });
    expect(await fixture.get(schedule.id)).toMatchObject({ state: 'paused', nextRunAt: null });
    await fixture.tick(5 * minute);
    expect(await jobsOf(caller.userId)).toHaveLength(1);
  });

  test('records why it could not start, without counting a failure', async () => {
    const caller = await fixture.createCaller(0);
    const schedule = await fixture.create(caller);
    const run = await runSchedule(fixture.context, schedule.id, caller);
    expect(run).toMatchObject({
      state: 'not_submitted',
      reason: expect.stringContaining('8 short'),
    });
    expect(await fixture.get(schedule.id)).toMatchObject({ failures: 0, state: 'active' });
    await grant(fixture.context, caller.userId, 8);
    expect(await runSchedule(fixture.context, schedule.id, caller)).toMatchObject({
      state: 'running',
    });
  });

  test('waits for the last run with the rule queue, and refuses a second waiting run', async () => {
    const caller = await fixture.createCaller(100);
    const schedule = await fixture.create(caller, { overlap: 'queue' });
    await runSchedule(fixture.context, schedule.id, caller);
    expect(await runSchedule(fixture.context, schedule.id, caller)).toMatchObject({
      trigger: 'manual',
    });
    expect(await jobsOf(caller.userId)).toHaveLength(1);
    const refused = runSchedule(fixture.context, schedule.id, caller);
    await expect(refused).rejects.toMatchObject({ code: 'conflict' } satisfies Partial<Fault>);
  });

  test('is not possible for a schedule of another user', async () => {
    const schedule = await fixture.create(await fixture.createCaller(100));
    const refused = runSchedule(fixture.context, schedule.id, await fixture.createCaller(100));
    await expect(refused).rejects.toMatchObject({ code: 'not_found' });
  });
});

test('the runs of a tracked schedule are a series', async () => {
  const caller = await fixture.createCaller(100);
  const { id } = await fixture.create(caller, { options: { track: 'true' } });
  const named = await fixture.create(caller, { options: { track: 'nightly' } });
  await fixture.tick(minute);
  const tracks = (await jobsOf(caller.userId)).map(({ options }) => options.track).toSorted();
  expect(tracks).toEqual(['nightly', `schedule-${id}`]);
  expect(named.options).toEqual({ track: 'nightly' });
});

test('the request of a schedule is the body of its submit', async () => {
  const caller = await fixture.createCaller(100);
  const request = csvRequest('region,shop_id,item_id\nsg,1,2\nid,3,4\n');
  await fixture.create(caller, { request, options: { maxCredits: 16 } });
  await fixture.tick(minute);
  expect(await jobsOf(caller.userId)).toMatchObject([
    { totalUnits: 2, cost: 16, options: { maxCredits: 16 } },
  ]);
});
