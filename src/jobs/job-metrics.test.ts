import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import {
  durationsIn,
  grant,
  type JobFixture,
  noon,
  openJobFixture,
  variantSoldRequest,
} from '../../test/support/jobs/jobs.ts';
import type { DistributionName } from '../telemetry/catalog.ts';
import { approve, reject, stopRunning } from './steps/decide.ts';

let fixture: JobFixture;
beforeEach(async () => {
  fixture = await openJobFixture();
});
afterEach(() => fixture.close());

/** Returns the counts since the last call as "name label… value", sorted. */
function counts(): string[] {
  const { counters: sums } = fixture.metrics.take();
  return sums
    .map(({ name, labels, value }) => [name, ...Object.values(labels), value].join(' '))
    .toSorted();
}

const submitted = async () => {
  const userId = await fixture.createUser(1_000);
  const { jobId } = await fixture.submit(
    userId,
    'SubmitVariantSold',
    variantSoldRequest(3, '30000000801'),
  );
  return jobId as string;
};

describe('the metrics of a job', () => {
  test('count its units, its end, and its durations once', async () => {
    const jobId = await submitted();
    const cost = (await fixture.context.store.jobs.get(jobId))!.cost;
    counts();
    await fixture.clock.advance(90_000);
    await approve(fixture.context, jobId, 'operator');
    await fixture.clock.advance(2_000);
    await fixture.startWorker();
    const job = await fixture.waitForState(jobId, 'partial_complete', 'completed', 'failed');
    const report = fixture.metrics.take();
    const { counters: sums } = report;
    const byName = (name: string) => sums.filter((sum) => sum.name === name);
    expect(byName('gleaner_jobs_ended_total')).toEqual([
      expect.objectContaining({
        labels: { kind: 'variant_sold', market: 'mkta', state: job.state },
        value: 1,
      }),
    ]);
    const units = byName('gleaner_units_total');
    expect(units.reduce((sum, { value }) => sum + value, 0)).toBe(4);
    expect(units).toContainEqual(
      expect.objectContaining({
        labels: { market: 'mkta', kind: 'variant_sold', code: 'ok' },
        value: 3,
      }),
    );
    const durations = (name: DistributionName) => durationsIn(report, name);
    expect(durations('gleaner_approval_wait_seconds')).toEqual({ count: 1, sumMs: 90_000 });
    expect(durations('gleaner_batch_schedule_to_start_seconds')).toEqual({
      count: 1,
      sumMs: 2_000,
    });
    const sumMs = fixture.clock.now() - noon;
    expect(durations('gleaner_job_duration_seconds')).toEqual({ count: 1, sumMs });
    expect(durations('gleaner_unit_duration_seconds').count).toBe(4);
    expect(
      byName('gleaner_credits_total').find(
        ({ labels }) => 'type' in labels && labels.type === 'refund',
      ),
    ).toEqual(expect.objectContaining({ value: job.refunded }));
    expect(cost).toBeGreaterThan(job.refunded);
  });

  test('count credits that are taken back apart from those that are granted', async () => {
    const userId = await fixture.createUser(0);
    counts();
    await grant(fixture.context, userId, 12);
    await grant(fixture.context, userId, -10);
    expect(counts()).toEqual(
      expect.arrayContaining([
        'gleaner_credits_total deduction 10',
        'gleaner_credits_total grant 12',
      ]),
    );
  });

  test('count the units of rejected and stopped jobs by the reason', async () => {
    const rejected = await submitted();
    const stopped = await submitted();
    counts();
    await reject(fixture.context, rejected, 'operator', '');
    expect(counts()).toEqual(
      expect.arrayContaining([
        'gleaner_jobs_ended_total variant_sold mkta rejected 1',
        'gleaner_units_total mkta variant_sold rejected 4',
      ]),
    );
    await approve(fixture.context, stopped, 'operator');
    await stopRunning(fixture.context, stopped, '');
    expect(counts()).toEqual(
      expect.arrayContaining([
        'gleaner_jobs_ended_total variant_sold mkta terminated 1',
        'gleaner_units_total mkta variant_sold terminated 4',
      ]),
    );
  });

  test('count a batch that is claimed again', async () => {
    const jobId = await submitted();
    await approve(fixture.context, jobId, 'operator');
    const { store } = fixture.context;
    const [batch] = await store.batches.find({ jobId });
    counts();
    await store.batches.claim(batch!, 0, noon, noon + 10);
    expect(counts()).toEqual([]);
    expect(await store.batches.claim(batch!, 0, noon, noon + 10)).toBeNull();
    await store.batches.claim(batch!, 1, noon + 20, noon + 30);
    expect(counts()).toEqual(['gleaner_batch_redeliveries_total 1']);
  });
});
