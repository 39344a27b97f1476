import { toJson } from '@bufbuild/protobuf';
import { beforeEach, expect, test } from 'vitest';
import { AccountService } from '../../../gen/gleaner/account/v1/account_pb.ts';
import { JobService } from '../../../gen/gleaner/job/v1/job_pb.ts';
import { SubmitOptionsSchema } from '../../../gen/gleaner/job/v1/submit_options_pb.ts';
import { OperatorService } from '../../../gen/gleaner/operator/v1/operator_pb.ts';
import { ScheduleService } from '../../../gen/gleaner/schedule/v1/schedule_pb.ts';
import { type JobFixture, openJobFixture } from '../../../test/support/jobs/jobs.ts';
import { csvRequest } from '../../../test/support/jobs/schedules.ts';
import { type CoreCaller, openCore, type TestCore } from '../../../test/support/rpc/core.ts';
import { runDueSchedules } from '../../schedules/advance.ts';
import { sweep } from '../../sweep/sweep.ts';

const { method } = ScheduleService;

let fixture: JobFixture;
let core: TestCore;
let userId: string;
let user: CoreCaller;
beforeEach(async () => {
  fixture = await openJobFixture();
  core = await openCore(fixture.context);
  userId = await fixture.createUser(1_000);
  user = (await core.createKey(userId)).caller;
  return () => fixture.close();
});

const daily = {
  name: 'Prices',
  market: 'mkta',
  kind: 'get_pc_bulk',
  request: csvRequest(),
  cron: '0 8 * * *',
  timeZone: 'Asia/Singapore',
};
const variantSold = {
  ...daily,
  kind: 'variant_sold',
  request: '{"items":[{"item_id":"1","shop_id":"7","country":"sg"}]}',
};

test('a schedule is created, listed, run, changed, and deleted', async () => {
  const created = await user.call(method.createSchedule, daily);
  expect(created).toMatchObject({
    state: 'active',
    units: 1,
    costPerRun: 8n,
    request: daily.request,
  });
  const { scheduleId } = created;
  const run = await user.call(method.runSchedule, { scheduleId });
  expect(run).toMatchObject({ scheduleId, trigger: 'manual', state: 'running', cost: 8n });
  await fixture.clock.advance(1);
  const skipped = await user.call(method.runSchedule, { scheduleId });
  expect(skipped).toMatchObject({
    state: 'skipped',
    reason: 'The last run has not ended.',
    jobId: '',
  });
  const { runs } = await user.call(method.listScheduleRuns, { scheduleId, pageSize: 1 });
  expect(runs).toEqual([skipped]);
  const { jobId } = run;
  const at = fixture.clock.now();
  const ended = { finishedAt: at, refunded: 3 };
  await fixture.context.store.jobs.move(jobId, ['processing'], 'failed', at, ended);
  const listed = await user.call(method.listScheduleRuns, { scheduleId });
  expect(listed.runs[1]).toMatchObject({ state: 'failed', refunded: 3n });
  await user.call(method.pauseSchedule, { scheduleId });
  await user.call(method.updateSchedule, { scheduleId, name: 'New', maxTotalCredits: 80n });
  const { schedules } = await user.call(method.listSchedules, { state: 'paused' });
  expect(schedules).toMatchObject([
    { scheduleId, name: 'New', maxTotalCredits: 80n, creditsSpent: 8n },
  ]);
  expect(schedules[0]!.request).toBeUndefined();
  const resumed = await user.call(method.resumeSchedule, { scheduleId });
  expect(resumed.state).toBe('active');
  await user.call(method.deleteSchedule, { scheduleId });
  await expect(user.call(method.getSchedule, { scheduleId })).rejects.toMatchObject({
    code: 'not_found',
  });
});

test('operators read a schedule, and approve and reject its runs as jobs', async () => {
  const { scheduleId, approved } = await user.call(method.createSchedule, variantSold);
  expect(approved).toBe(false);
  const { schedules } = await core.operator.call(method.listSchedules, { state: 'active' });
  expect(schedules).toMatchObject([{ scheduleId, userId, costPerRun: 10n }]);
  const seen = await core.operator.call(method.getSchedule, { scheduleId });
  expect(seen.request).toBe(variantSold.request);
  const run = async () => (await user.call(method.runSchedule, { scheduleId })).jobId;
  const jobId = await run();
  expect(await core.operator.call(JobService.method.getJob, { jobId })).toMatchObject({
    scheduleId,
    status: 'awaiting_approval',
  });
  await core.operator.call(OperatorService.method.approveJob, { jobId });
  await user.call(JobService.method.cancelJob, { jobId });
  await fixture.clock.advance(20_000);
  await runDueSchedules(fixture.context);
  expect(await user.call(method.getSchedule, { scheduleId })).toMatchObject({
    approved: true,
    userId: '',
  });
  await user.call(method.updateSchedule, { scheduleId, cron: '@hourly' });
  const again = await run();
  await core.operator.call(OperatorService.method.rejectJob, {
    jobId: again,
    reason: 'Too often.',
  });
  await fixture.clock.advance(20_000);
  await runDueSchedules(fixture.context);
  const rejected = { state: 'rejected', reason: 'Too often.', approved: false };
  expect(await user.call(method.getSchedule, { scheduleId })).toMatchObject(rejected);
});

test('another user cannot see or change a schedule', async () => {
  const { scheduleId } = await user.call(method.createSchedule, daily);
  const other = (await core.createKey(await fixture.createUser(0))).caller;
  const calls = [
    method.getSchedule,
    method.pauseSchedule,
    method.resumeSchedule,
    method.deleteSchedule,
  ];
  for (const call of calls)
    await expect(other.call(call, { scheduleId })).rejects.toMatchObject({ code: 'not_found' });
  expect((await other.call(method.listSchedules, {})).schedules).toEqual([]);
  expect(await user.call(method.getSchedule, { scheduleId })).toMatchObject({ state: 'active' });
});

test('a quote cannot be the run of a schedule', async () => {
  const refused = user.call(method.createSchedule, { ...daily, options: { validateOnly: true } });
  await expect(refused).rejects.toMatchObject({
    problems: [{ loc: ['body', 'options', 'validate_only'] }],
  });
});

test('the export of an account contains its schedules and runs, which a deletion erases', async () => {
  const { scheduleId } = await user.call(method.createSchedule, daily);
  await user.call(method.pauseSchedule, { scheduleId });
  const withoutCredits = (await core.createKey(await fixture.createUser(0))).caller;
  const { scheduleId: short } = await withoutCredits.call(method.createSchedule, daily);
  await withoutCredits.call(method.runSchedule, { scheduleId: short });
  const linesOf = async (caller: CoreCaller) => {
    const parts = await caller.stream(AccountService.method.exportAccount, {});
    const text = Buffer.concat(parts.map(({ data }) => data)).toString();
    return text
      .split('\n')
      .flatMap((line) => (line.includes('"schedule') ? [JSON.parse(line)] : []));
  };
  const [exported] = (await linesOf(user)).filter(({ type }) => type === 'schedule');
  expect(exported.data).toMatchObject({
    id: scheduleId,
    state: 'paused',
    request: JSON.parse(daily.request),
  });
  const runs = (await linesOf(withoutCredits)).filter(({ type }) => type === 'schedule_run');
  expect(runs).toMatchObject([{ data: { schedule_id: short, state: 'not_submitted' } }]);
  await core.operator.call(OperatorService.method.deleteUser, { userId });
  await sweep(fixture.context);
  expect(await fixture.context.store.schedules.get(scheduleId)).toBeNull();
});

test('the runs of a test account cost nothing, for its owner, the credit limit, and operators', async () => {
  const { caller } = await core.createKey(await fixture.createUser(0, { testOf: userId }));
  const limited = { ...daily, maxTotalCredits: 1n };
  const { scheduleId, costPerRun } = await caller.call(method.createSchedule, limited);
  expect(costPerRun).toBe(0n);
  const { schedules } = await core.operator.call(method.listSchedules, {});
  expect(schedules).toMatchObject([{ scheduleId, costPerRun: 0n }]);
  expect(await caller.call(method.runSchedule, { scheduleId })).toMatchObject({
    state: 'running',
    cost: 0n,
  });
  await expect(user.call(method.createSchedule, limited)).rejects.toMatchObject({
    problems: [{ loc: ['body', 'max_total_credits'] }],
  });
});

test('a schedule that delivers only what changed must be tracked', async () => {
  const options = { only: 'changed' };
  await expect(user.call(method.createSchedule, { ...daily, options })).rejects.toMatchObject({
    problems: [{ loc: ['body', 'options', 'only'], type: 'value_error' }],
  });
  await user.call(method.createSchedule, { ...daily, options: { ...options, track: 'true' } });
});

test('a schedule shows only the options that were set', async () => {
  const options = { maxCredits: 100 };
  const { scheduleId } = await user.call(method.createSchedule, { ...daily, options });
  const shown = await user.call(method.getSchedule, { scheduleId });
  expect(toJson(SubmitOptionsSchema, shown.options!, { alwaysEmitImplicit: true })).toEqual(
    options,
  );
});
