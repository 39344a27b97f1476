import { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import {
  type JobFixture,
  noon,
  openJobFixture,
  variantSoldRequest,
} from '../../../test/support/jobs/jobs.ts';
import type { SubmitOptionValues } from '../../contract/submit-options.ts';
import type { Job } from '../../store/documents.ts';
import { results } from '../queries/results.ts';
import { deleteJob } from './delete.ts';

const hour = 3_600_000;
let fixture: JobFixture;
let userId: string;
beforeEach(async () => {
  fixture = await openJobFixture({ approval: false });
  userId = await fixture.createUser(10_000);
  await fixture.startWorker();
});
afterEach(async () => {
  expect(await fixture.problems()).toEqual([]);
  await fixture.close();
});

const ended = ['completed', 'partial_complete', 'failed'] as const;

/**
 * Runs a job of items to its end. Returns it, and the number of pages that were requested
 * meanwhile.
 */
async function run(
  request: object,
  options: SubmitOptionValues,
  method = 'SubmitVariantSold',
): Promise<[Job, number]> {
  const before = fixture.requestedItems().length;
  const { jobId, taskId } = await fixture.submit(
    userId,
    method,
    request as never,
    undefined,
    options,
  );
  const id = jobId ?? (await fixture.context.store.jobs.find({ number: taskId }))[0]!.id;
  const job = await fixture.waitForState(id, ...ended);
  return [job, fixture.requestedItems().length - before];
}

const linesOf = async (job: Job) =>
  (await text(Readable.from(results(fixture.context, job))))
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as { collected_at?: string; record: object });

describe('a job with max_age', () => {
  test('reuses records of the same page that are young enough, and refunds the difference', async () => {
    const [first, fetched] = await run(variantSoldRequest(3), { maxAge: '1h' });
    expect([fetched, first.refunded, first.reusedUnitPrice, first.counts?.units]).toEqual([
      3,
      0,
      5,
      { total: 3, success: 3, failed: 0, reused: 0 },
    ]);
    await fixture.clock.advance(hour - 1_000);
    const [second, missing] = await run(variantSoldRequest(4), { maxAge: '1h' });
    expect([missing, second.cost, second.refunded, second.counts?.units.reused]).toEqual([
      1, 40, 15, 3,
    ]);
    const lines = await linesOf(second);
    expect(lines.map(({ collected_at }) => collected_at)).toEqual([
      ...new Array(3).fill(new Date(noon).toISOString()),
      undefined,
    ]);
    expect(lines.slice(0, 3).map(({ record }) => record)).toEqual(
      (await linesOf(first)).map(({ record }) => record),
    );
    expect(await fixture.balance(userId)).toBe(10_000 - 30 - 40 + 15);
  });

  test('reads a page whose record is too old', async () => {
    await run(variantSoldRequest(1), { maxAge: '1h' });
    await fixture.clock.advance(hour + 1_000);
    const [job, fetched] = await run(variantSoldRequest(1), { maxAge: '1h' });
    expect([fetched, job.refunded, job.counts?.units.reused]).toEqual([1, 0, 0]);
    expect((await run(variantSoldRequest(1), { maxAge: '1m' }))[1]).toBe(0);
  });

  test('does not reuse records of jobs without it, nor those of another region', async () => {
    await run(variantSoldRequest(1), {});
    expect((await run(variantSoldRequest(1), { maxAge: '1h' }))[1]).toBe(1);
    expect((await run({ ...variantSoldRequest(1), country: 'id' }, { maxAge: '1h' }))[1]).toBe(1);
    const [plain, fetched] = await run(variantSoldRequest(1), {});
    expect([fetched, plain.reusedUnitPrice, plain.counts?.units]).toEqual([
      1,
      null,
      { total: 1, success: 1, failed: 0 },
    ]);
  });

  test('shares the product pages of marketplace A with rescrape=false, which costs the full price', async () => {
    const csv = { file: Buffer.from('region,shop_id,item_id\nsg,7,20101\n').toString('base64') };
    await run({ region: 'sg', itemId: '20101', shopId: '7' }, {}, 'SubmitGetPc');
    const [reused, fetched] = await run(
      { ...csv, rescrape: true },
      { maxAge: '1h' },
      'SubmitGetPcBulk',
    );
    expect([fetched, reused.cost, reused.refunded]).toEqual([0, 8, 4]);
    const [recent, requested] = await run(csv, {}, 'SubmitGetPcBulk');
    expect([requested, recent.refunded]).toEqual([0, 0]);
  });

  test('stays balanced when failed units are refunded too, and when the job is deleted', async () => {
    await run(variantSoldRequest(2), { maxAge: '1h' });
    const [job] = await run(variantSoldRequest(2, '30000000801'), { maxAge: '1h' });
    expect([job.cost, job.refunded, job.counts?.units]).toEqual([
      30,
      20,
      { total: 3, success: 2, failed: 1, reused: 2 },
    ]);
    expect(await fixture.problems()).toEqual([]);
    await deleteJob(fixture.context, job);
    expect(await fixture.context.store.deletedJobs.get(job.id)).toMatchObject({ discount: 10 });
  });

  test('charges the configured percentage, rounded up', async () => {
    fixture.context.settings.reusedPricePercent = 33;
    expect((await run(variantSoldRequest(1), { maxAge: '1h' }))[0].reusedUnitPrice).toBe(4);
  });

  test('has the lower price in its quote', async () => {
    const options = { maxAge: '7d', validateOnly: true };
    const { quote } = await fixture.submit(
      userId,
      'SubmitVariantSold',
      variantSoldRequest(2),
      undefined,
      options,
    );
    expect(quote).toMatchObject({ cost: 20, unitPrice: 10, reusedUnitPrice: 5 });
  });
});

test('the audit reports a wrong count of reused records', async () => {
  await run(variantSoldRequest(2), { maxAge: '1h' });
  const [job] = await run(variantSoldRequest(2), { maxAge: '1h' });
  const { units, batches } = job.counts!;
  const { store } = fixture.context;
  await store.jobs.move(job.id, ['completed'], 'completed', noon, {
    counts: { units: { ...units, reused: 1 }, batches },
  });
  expect(await fixture.problems()).toEqual([
    `job ${job.id}: stored as 1 reused, the batches say 2`,
  ]);
  await store.jobs.move(job.id, ['completed'], 'completed', noon, { counts: { units, batches } });
});
