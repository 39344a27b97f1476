import { afterEach, expect, test } from 'vitest';
import { type JobsBench, noon, openJobs, variantSoldRequest } from '../../test/support/jobs.ts';
import { parseWorkingHours } from '../base/working-hours.ts';
import { sweep } from '../sweep/sweep.ts';
import { approve } from './decide.ts';

const hourMs = 3_600_000;
/** The bench's clock stands at noon in GMT+8. */
const workingHours = parseWorkingHours('13:00-14:00+08:00');
let bench: JobsBench;

afterEach(() => bench.close());

test.each([
  ['off', false],
  ['on', true],
])('with approval %s, a job outside working hours is processing and waits', async (_, approval) => {
  bench = await openJobs({ approval, workingHours });
  const { context, clock } = bench;
  const user = await bench.createUser(100);
  const { jobId } = await bench.submit(user, 'SubmitVariantSold', variantSoldRequest(3));
  if (approval) await approve(context, jobId, user);
  await bench.startWorker();
  const look = () => bench.read(user, 'RetrieveVariantSold', { jobId });

  await sweep(context);
  expect(await look()).toMatchObject({ status: 'processing', jobStatus: 'pending' });
  expect(bench.asked()).toEqual([]);

  await clock.pass(hourMs);
  expect(clock.now()).toBe(noon + hourMs);
  await sweep(context);
  await bench.reaches(jobId, 'completed');
  expect(await look()).toMatchObject({ status: 'completed', jobStatus: 'completed' });
});

test('batches dispatched before the end of working hours finish, others wait for the next day', async () => {
  bench = await openJobs({
    approval: false,
    workingHours: parseWorkingHours('08:00-12:30+08:00'),
    jobWindow: 1,
  });
  const { context, clock } = bench;
  const user = await bench.createUser(2_000);
  const { jobId } = await bench.submit(user, 'SubmitVariantSold', variantSoldRequest(60));
  await clock.pass(hourMs);
  await bench.startWorker();
  const look = () => bench.read(user, 'RetrieveVariantSold', { jobId });

  await bench.comesTrue('one batch is done', async () => (await look()).progress.startsWith('1/2'));
  await sweep(context);
  expect(await look()).toMatchObject({ status: 'processing', progress: '1/2 batches complete' });

  await clock.pass(20 * hourMs);
  await sweep(context);
  await bench.reaches(jobId, 'completed');
});
