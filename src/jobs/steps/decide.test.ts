import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import {
  grant,
  type JobFixture,
  openJobFixture,
  variantSoldRequest,
} from '../../../test/support/jobs/jobs.ts';
import { newId } from '../../base/id.ts';
import { Fault } from '../../contract/fault.ts';
import { replaceMethods } from '../../store/wrap.ts';
import { sweep } from '../../sweep/sweep.ts';
import { approvalWaitMs } from '../context.ts';
import { approve, finishApproval, reject } from './decide.ts';

const operatorId = newId();
const searches = {
  urls: ['https://mkta.sg/search?keyword=lamp%20006', 'https://mkta.sg/search?keyword=lamp%20007'],
};
let fixture: JobFixture;

beforeEach(async () => {
  fixture = await openJobFixture();
});
afterEach(() => fixture.close());

/** Types and amounts of a user's ledger entries, oldest first, without the grant. */
async function entriesOf(userId: string): Promise<unknown[]> {
  const { items } = await fixture.context.store.ledger.list(
    { userId },
    { limit: 100, after: null },
  );
  return items
    .filter(({ type }) => type !== 'grant')
    .map(({ type, amount }) => [type, amount])
    .reverse();
}

describe('24 hours without a decision', () => {
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
    'rejects a job of %s, and refunds its charge once',
    async (method, request, view, entries) => {
      const userId = await fixture.createUser(100);
      const { jobId } = await fixture.submit(userId, method, request as never);
      await fixture.clock.advance(approvalWaitMs - 1);
      await sweep(fixture.context);
      expect(await fixture.read(userId, view, { jobId })).toMatchObject({
        status: 'awaiting_approval',
      });

      await fixture.clock.advance(1);
      await sweep(fixture.context);
      await sweep(fixture.context);
      expect(await fixture.read(userId, view, { jobId })).toMatchObject({ status: 'rejected' });
      expect((await fixture.context.store.jobs.get(jobId))!.reason).toMatch(/24 hours/);
      expect(await entriesOf(userId)).toEqual(entries);
      expect(await fixture.balance(userId)).toBe(100);
      await expect(approve(fixture.context, jobId, operatorId)).rejects.toMatchObject({
        code: 'conflict',
      });
      expect(await fixture.problems()).toEqual([]);
    },
  );

  test('do not affect an approved job', async () => {
    const userId = await fixture.createUser(100);
    const { jobId } = await fixture.submit(userId, 'SubmitVariantSold', variantSoldRequest(2));
    await fixture.clock.advance(approvalWaitMs - 1);
    await approve(fixture.context, jobId, operatorId);
    await fixture.clock.advance(1);
    await sweep(fixture.context);
    expect(await fixture.read(userId, 'RetrieveVariantSold', { jobId })).toMatchObject({
      status: 'processing',
    });
  });
});

describe('approval', () => {
  test('charges variant sold once, and nothing more for a search', async () => {
    const userId = await fixture.createUser(100);
    const sold = await fixture.submit(userId, 'SubmitVariantSold', variantSoldRequest(2));
    expect(await entriesOf(userId)).toEqual([]);
    await approve(fixture.context, sold.jobId, operatorId);
    // Entries of the same millisecond have no order.
    await fixture.clock.advance(1);
    const search = await fixture.submit(userId, 'SubmitSearchItems', searches);
    await approve(fixture.context, search.jobId, operatorId);
    expect(await entriesOf(userId)).toEqual([
      ['charge', -20],
      ['charge', -12],
    ]);
    await expect(approve(fixture.context, sold.jobId, operatorId)).rejects.toMatchObject({
      code: 'conflict',
    });
    await expect(reject(fixture.context, sold.jobId, operatorId, '')).rejects.toMatchObject({
      code: 'conflict',
    });
    expect(await fixture.balance(userId)).toBe(68);
  });

  test('returns the running job with the operator who approved it', async () => {
    const userId = await fixture.createUser(100);
    const { jobId } = await fixture.submit(userId, 'SubmitVariantSold', variantSoldRequest(2));
    const job = await approve(fixture.context, jobId, operatorId);
    expect(job).toMatchObject({ id: jobId, state: 'processing', decidedBy: operatorId });
  });

  test('leaves the job awaiting approval if the balance is insufficient', async () => {
    const userId = await fixture.createUser(20);
    const { jobId } = await fixture.submit(userId, 'SubmitVariantSold', variantSoldRequest(2));
    await grant(fixture.context, userId, -1);
    await expect(approve(fixture.context, jobId, operatorId)).rejects.toMatchObject({
      code: 'insufficient_credits',
      quota: { required: 20, current: 19 },
    });
    expect(await fixture.context.store.jobs.get(jobId)).toMatchObject({
      state: 'awaiting_approval',
      decidedBy: null,
    });
    await grant(fixture.context, userId, 1);
    await approve(fixture.context, jobId, operatorId);
    expect(await fixture.balance(userId)).toBe(0);
  });

  test('interrupted by the store is recorded, and completed once later', async () => {
    const userId = await fixture.createUser(20);
    const { jobId } = await fixture.submit(userId, 'SubmitVariantSold', variantSoldRequest(2));
    const { store } = fixture.context;
    const post: typeof store.ledger.post = async () => {
      throw new Fault('unavailable', 'The store is away.');
    };
    const away = { ...fixture.context, store: replaceMethods(store, { ledger: { post } }) };
    await expect(approve(away, jobId, operatorId)).rejects.toMatchObject({ code: 'unavailable' });
    const approving = (await store.jobs.get(jobId))!;
    expect(approving).toMatchObject({ state: 'approving', decidedBy: operatorId });
    for (let time = 0; time < 2; time += 1)
      expect(await finishApproval(fixture.context, approving)).toMatchObject({
        state: 'processing',
      });
    expect(await entriesOf(userId)).toEqual([['charge', -20]]);
  });

  test('takes effect once for two concurrent calls', async () => {
    const userId = await fixture.createUser(100);
    const { jobId } = await fixture.submit(userId, 'SubmitVariantSold', variantSoldRequest(2));
    const both = await Promise.allSettled([
      approve(fixture.context, jobId, operatorId),
      reject(fixture.context, jobId, newId(), 'Too dear.'),
    ]);
    expect(both.map(({ status }) => status).toSorted()).toEqual(['fulfilled', 'rejected']);
    expect(await fixture.problems()).toEqual([]);
  });
});

test.each([
  ['Too dear.', 'The job was rejected. Too dear.'],
  ['', 'The job was rejected. The operator gave no reason.'],
])('rejection with the reason "%s" fails every unit with it', async (reason, message) => {
  const userId = await fixture.createUser(100);
  const { jobId } = await fixture.submit(userId, 'SubmitVariantSold', variantSoldRequest(1));
  const job = await reject(fixture.context, jobId, operatorId, reason);
  expect(job).toMatchObject({ state: 'rejected', decidedBy: operatorId });
  expect(message).toBe(`The job was rejected. ${job.reason}`);
  const [batch] = await Array.fromAsync(fixture.context.store.batches.read(jobId));
  expect(Object.values(batch!.outcomes)).toEqual([{ status: 'FAILED', code: 'rejected', message }]);
});

test('returns not_found for an unknown job', async () => {
  await expect(approve(fixture.context, newId(), operatorId)).rejects.toMatchObject({
    code: 'not_found',
  });
  await expect(reject(fixture.context, newId(), operatorId, '')).rejects.toMatchObject({
    code: 'not_found',
  });
});
