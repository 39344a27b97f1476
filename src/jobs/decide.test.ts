import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { grant, type JobsBench, openJobs, variantSoldRequest } from '../../test/support/jobs.ts';
import { Fault } from '../base/fault.ts';
import { newId } from '../base/id.ts';
import { sweep } from '../sweep/sweep.ts';
import { approvalWaitMs } from './context.ts';
import { approve, finishApproval, reject } from './decide.ts';

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

  test('returns the running job with the operator who approved it', async () => {
    const userId = await bench.createUser(100);
    const { jobId } = await bench.submit(userId, 'SubmitVariantSold', variantSoldRequest(2));
    const job = await approve(bench.context, jobId, operatorId);
    expect(job).toMatchObject({ id: jobId, state: 'processing', decidedBy: operatorId });
  });

  test('that the balance does not cover leaves the job waiting, undecided', async () => {
    const userId = await bench.createUser(20);
    const { jobId } = await bench.submit(userId, 'SubmitVariantSold', variantSoldRequest(2));
    await grant(bench.context, userId, -1);
    await expect(approve(bench.context, jobId, operatorId)).rejects.toMatchObject({
      code: 'insufficient_credits',
      quota: { required: 20, current: 19 },
    });
    expect(await bench.context.store.getJob(jobId)).toMatchObject({
      state: 'awaiting_approval',
      decidedBy: null,
    });
    await grant(bench.context, userId, 1);
    await approve(bench.context, jobId, operatorId);
    expect(await bench.balance(userId)).toBe(0);
  });

  test('that the store interrupts stays decided and is finished later, once', async () => {
    const userId = await bench.createUser(20);
    const { jobId } = await bench.submit(userId, 'SubmitVariantSold', variantSoldRequest(2));
    const { store } = bench.context;
    const postLedgerEntry: typeof store.postLedgerEntry = async () => {
      throw new Fault('unavailable', 'The store is away.');
    };
    const away = { ...bench.context, store: { ...store, postLedgerEntry } };
    await expect(approve(away, jobId, operatorId)).rejects.toMatchObject({ code: 'unavailable' });
    const approving = (await store.getJob(jobId))!;
    expect(approving).toMatchObject({ state: 'approving', decidedBy: operatorId });
    for (let time = 0; time < 2; time += 1)
      expect(await finishApproval(bench.context, approving)).toMatchObject({ state: 'processing' });
    expect(await entriesOf(userId)).toEqual([['charge', -20]]);
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

test.each([
  ['Too dear.', 'The job was rejected. Too dear.'],
  ['', 'The job was rejected.'],
])('a rejection for the reason "%s" fails every unit with it', async (reason, message) => {
  const userId = await bench.createUser(100);
  const { jobId } = await bench.submit(userId, 'SubmitVariantSold', variantSoldRequest(1));
  const job = await reject(bench.context, jobId, operatorId, reason);
  expect(job).toMatchObject({ state: 'rejected', decidedBy: operatorId, reason });
  const [batch] = await Array.fromAsync(bench.context.store.readBatches(jobId));
  expect(Object.values(batch!.outcomes)).toEqual([{ status: 'FAILED', code: 'rejected', message }]);
});

test('a job that there is not is not found', async () => {
  await expect(approve(bench.context, newId(), operatorId)).rejects.toMatchObject({ code: 'not_found' });
  await expect(reject(bench.context, newId(), operatorId, '')).rejects.toMatchObject({ code: 'not_found' });
});
