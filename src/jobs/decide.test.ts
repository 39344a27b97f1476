import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { type JobsBench, openJobs, variantSoldRequest } from '../../test/support/jobs.ts';
import { newId } from '../base/id.ts';
import { sweep } from '../sweep/sweep.ts';
import { approvalWaitMs } from './context.ts';
import { approve, reject } from './decide.ts';

const operatorId = newId();
const searches = {
  urls: ['https://mkta.sg/search?keyword=lamp%20006', 'https://mkta.sg/search?keyword=lamp%20007'],
};
let bench: JobsBench;

beforeEach(async () => {
  bench = await openJobs();
});
afterEach(() => bench.close());

/** Types and amounts of a user's ledger, oldest first, the grant left out. */
async function entriesOf(userId: string): Promise<unknown[]> {
  const { items } = await bench.context.store.listLedgerEntries(userId, { limit: 100, after: null });
  return items
    .filter(({ type }) => type !== 'grant')
    .map(({ type, amount }) => [type, amount])
    .reverse();
}

describe('after 24 hours without a decision', () => {
  test.each([
    ['SubmitVariantSold', variantSoldRequest(2), 'RetrieveVariantSold', []],
    [
      'SubmitSearchItems',
      searches,
      'RetrieveSearchItems',
      [
        ['charge', -12],
        ['refund', 12],
      ],
    ],
  ] as const)(
    'a job of %s is rejected, and what was charged given back once',
    async (method, request, view, entries) => {
      const userId = await bench.createUser(100);
      const { jobId } = await bench.submit(userId, method, request as never);
      await bench.clock.pass(approvalWaitMs - 1);
      await sweep(bench.context);
      expect(await bench.read(userId, view, { jobId })).toMatchObject({ status: 'awaiting_approval' });

      await bench.clock.pass(1);
      await sweep(bench.context);
      await sweep(bench.context);
      expect(await bench.read(userId, view, { jobId })).toMatchObject({ status: 'rejected' });
      expect((await bench.context.store.getJob(jobId))!.reason).toMatch(/24 hours/);
      expect(await entriesOf(userId)).toEqual(entries);
      expect(await bench.balance(userId)).toBe(100);
      await expect(approve(bench.context, jobId, operatorId)).rejects.toMatchObject({ code: 'conflict' });
      expect(await bench.problems()).toEqual([]);
    },
  );

  test('a job that was approved before is none of it', async () => {
    const userId = await bench.createUser(100);
    const { jobId } = await bench.submit(userId, 'SubmitVariantSold', variantSoldRequest(2));
    await bench.clock.pass(approvalWaitMs - 1);
    await approve(bench.context, jobId, operatorId);
    await bench.clock.pass(1);
    await sweep(bench.context);
    expect(await bench.read(userId, 'RetrieveVariantSold', { jobId })).toMatchObject({
      status: 'processing',
    });
  });
});

describe('an approval', () => {
  test('takes the credits of variant sold, once, and of a search nothing more', async () => {
    const userId = await bench.createUser(100);
    const sold = await bench.submit(userId, 'SubmitVariantSold', variantSoldRequest(2));
    expect(await entriesOf(userId)).toEqual([]);
    await approve(bench.context, sold.jobId, operatorId);
    // Entries of the same millisecond are in no order.
    await bench.clock.pass(1);
    const search = await bench.submit(userId, 'SubmitSearchItems', searches);
    await approve(bench.context, search.jobId, operatorId);
    expect(await entriesOf(userId)).toEqual([
      ['charge', -20],
      ['charge', -12],
    ]);
    await expect(approve(bench.context, sold.jobId, operatorId)).rejects.toMatchObject({ code: 'conflict' });
    await expect(reject(bench.context, sold.jobId, operatorId, '')).rejects.toMatchObject({
      code: 'conflict',
    });
    expect(await bench.balance(userId)).toBe(68);
  });

  test('of two at once is one', async () => {
    const userId = await bench.createUser(100);
    const { jobId } = await bench.submit(userId, 'SubmitVariantSold', variantSoldRequest(2));
    const both = await Promise.allSettled([
      approve(bench.context, jobId, operatorId),
      reject(bench.context, jobId, newId(), 'Too dear.'),
    ]);
    expect(both.map(({ status }) => status).toSorted()).toEqual(['fulfilled', 'rejected']);
    expect(await bench.problems()).toEqual([]);
  });
});

test('a job that there is not is not found', async () => {
  await expect(approve(bench.context, newId(), operatorId)).rejects.toMatchObject({ code: 'not_found' });
  await expect(reject(bench.context, newId(), operatorId, '')).rejects.toMatchObject({ code: 'not_found' });
});
