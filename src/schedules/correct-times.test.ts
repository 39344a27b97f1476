import { afterEach, beforeEach, expect, test } from 'vitest';
import {
  minute,
  openScheduleFixture,
  type ScheduleFixture,
} from '../../test/support/jobs/schedules.ts';
import { runDueSchedules } from './advance.ts';
import { correctRunTimes } from './correct-times.ts';

const hour = 60 * minute;
const day = 24 * hour;

let fixture: ScheduleFixture;
beforeEach(async () => {
  fixture = await openScheduleFixture();
});
afterEach(() => fixture.close());

/** Sets the clock forward or back, and corrects the stored times as the next sweep does. */
async function step(ms: number): Promise<void> {
  fixture.clock.step(ms);
  await correctRunTimes(fixture.context);
  await runDueSchedules(fixture.context);
}

test.each([-day, -hour, -20_000, 20_000, hour, day])(
  'a schedule of every minute runs within two minutes after a step of %d ms',
  async (ms) => {
    const { id } = await fixture.create(await fixture.createCaller(100), { overlap: 'queue' });
    await fixture.tick(minute);
    await fixture.endJob((await fixture.runs(id))[0]!.jobId);
    await step(ms);
    await fixture.tick(minute);
    await fixture.tick(minute);
    const runs = await fixture.runs(id);
    expect(runs.length).toBeGreaterThan(1);
    expect(new Set(runs.map((run) => run.id)).size).toBe(runs.length);
  },
);

test('a clock that jumps a day ahead and back delays no schedule and repeats no run', async () => {
  const { id } = await fixture.create(await fixture.createCaller(1_000), { overlap: 'queue' });
  await fixture.tick(minute);
  await step(day);
  await step(-day);
  for (let round = 0; round < 3; round += 1) {
    for (const { jobId, state } of await fixture.runs(id))
      if (state === 'running') await fixture.endJob(jobId);
    await fixture.tick(minute);
  }
  const times = (await fixture.runs(id)).map(({ scheduledFor }) => scheduledFor);
  expect(new Set(times).size).toBe(times.length);
  expect(times.length).toBeGreaterThanOrEqual(3);
});

test('a step back by less than the interval repeats no run', async () => {
  const { id } = await fixture.create(await fixture.createCaller(100), { cron: '0 * * * *' });
  await fixture.tick(hour);
  expect(await fixture.runs(id)).toHaveLength(1);
  await step(-20_000);
  await fixture.tick(minute);
  expect(await fixture.runs(id)).toHaveLength(1);
  await fixture.tick(hour);
  expect(await fixture.runs(id)).toHaveLength(2);
});

test('a run starts again at a time that it had before the clock was set back by a day', async () => {
  const caller = await fixture.createCaller(100);
  const { id } = await fixture.create(caller, { cron: '*/2 * * * *', overlap: 'queue' });
  for (const ms of [2 * minute, 2 * minute]) {
    await fixture.tick(ms);
    await fixture.endJob((await fixture.runs(id)).at(-1)!.jobId);
    await runDueSchedules(fixture.context);
  }
  await step(-4 * minute);
  await fixture.tick(4 * minute);
  const runs = await fixture.runs(id);
  expect(runs.map(({ scheduledFor }) => scheduledFor).toSorted()[1]).toBe(runs[1]!.scheduledFor);
  expect(new Set(runs.map(({ jobId }) => jobId)).size).toBe(3);
});

test('jobs of runs are read at once after the clock was set back', async () => {
  const { id } = await fixture.create(await fixture.createCaller(100), { cron: '0 0 1 1 *' });
  const { clock, context } = fixture;
  clock.step((await fixture.get(id)).nextRunAt! - clock.now());
  await runDueSchedules(context);
  const [run] = await fixture.runs(id);
  expect(run).toMatchObject({ state: 'running' });
  clock.step(-day);
  await fixture.endJob(run!.jobId);
  await correctRunTimes(context);
  await runDueSchedules(context);
  expect((await fixture.runs(id))[0]).toMatchObject({ state: 'completed' });
});

test('the next run of a schedule whose clock is right keeps its time', async () => {
  const { id } = await fixture.create(await fixture.createCaller(100), { cron: '0 * * * *' });
  const before = await fixture.get(id);
  await correctRunTimes(fixture.context);
  expect(await fixture.get(id)).toEqual(before);
});
