import { afterEach, beforeEach, expect, test } from 'vitest';
import { variantSoldRequest } from '../../test/support/jobs/jobs.ts';
import {
  type NotificationFixture,
  openNotifications,
} from '../../test/support/jobs/notifications.ts';
import { qualityOf } from '../jobs/queries/units.ts';
import type { Job } from '../store/documents.ts';

const hourMs = 3_600_000;

let fixture: NotificationFixture;
let userId: string;
beforeEach(async () => {
  fixture = await openNotifications({ operators: true });
  ({ userId } = await fixture.createUser(10_000));
  await fixture.jobs.startWorker();
});
afterEach(() => fixture.close());

async function endedJob(items: number): Promise<Job> {
  const { jobId } = await fixture.jobs.submit(
    userId,
    'SubmitVariantSold',
    variantSoldRequest(items),
  );
  return fixture.jobs.waitForState(jobId, 'completed', 'partial_complete');
}

/** Stores a baseline of 200 pages, a number of which lacked the field. */
function storeBaseline(field: string, absent: number): Promise<boolean> {
  const history = { recent: [], earlier: [200, absent], example: null, alarm: null };
  const record = {
    market: 'mkta',
    page: 'variants',
    revision: 1,
    state: JSON.stringify({ [field]: history }),
  };
  return fixture.context.store.drift.put(record);
}

/** Returns a listed field that no record of the sandbox has. */
async function emptyField(): Promise<string> {
  const { fields } = await qualityOf(fixture.context, await endedJob(30));
  await fixture.poll();
  const field = fields.find(({ records, filled }) => records >= 20 && filled === 0);
  if (field === undefined) throw new Error('every field of the sample is filled');
  return field.name;
}

async function messages() {
  const found = (await fixture.deliveries()).filter(({ type }) => type === 'job.fields_missing');
  return found.map(({ jobId, body }) => ({ jobId, ...JSON.parse(body).data }));
}

function counted(): number {
  const { counters } = fixture.jobs.metrics.take();
  const own = counters.filter(({ name }) => name === 'gleaner_jobs_fields_missing_total');
  return own.reduce((total, { value }) => total + value, 0);
}

test('counts jobs that lack a field of earlier pages, and notifies operators once an hour', async () => {
  const field = await emptyField();
  expect([await messages(), counted()]).toEqual([[], 0]);
  await storeBaseline(field, 100);

  const first = await endedJob(30);
  await fixture.jobs.clock.advance(1_000);
  await endedJob(30);
  await fixture.poll();
  await fixture.poll();
  const link = `https://gleaner.test/console/jobs/${first.id}`;
  expect(await messages()).toEqual([
    {
      jobId: first.id,
      job_id: first.id,
      kind: 'variant_sold',
      market: 'mkta',
      link,
      fields: [{ field, baseline: 0.5 }],
    },
  ]);
  expect(counted()).toBe(2);

  await fixture.jobs.clock.advance(hourMs);
  await endedJob(30);
  await fixture.poll();
  expect(await messages()).toHaveLength(2);
});

test('ignores a job with few records', async () => {
  const field = await emptyField();
  await storeBaseline(field, 0);
  await endedJob(19);
  await fixture.poll();
  expect([await messages(), counted()]).toEqual([[], 0]);
});

test('ignores a field that most earlier pages lacked', async () => {
  const field = await emptyField();
  await storeBaseline(field, 101);
  await endedJob(30);
  await fixture.poll();
  expect([await messages(), counted()]).toEqual([[], 0]);
});
