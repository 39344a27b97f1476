import { afterEach, beforeEach, expect, test } from 'vitest';
import {
  grant,
  type JobFixture,
  openJobFixture,
  variantSoldRequest,
} from '../../../test/support/jobs/jobs.ts';
import { newId } from '../../base/id.ts';
import type { Job, LedgerEntry } from '../../store/documents.ts';
import { replaceMethods } from '../../store/wrap.ts';
import { approve, cancel } from '../steps/decide.ts';
import { audit } from './audit.ts';

let fixture: JobFixture;
let job: Job;
beforeEach(async () => {
  fixture = await openJobFixture();
  await fixture.startWorker();
  const userId = await fixture.createUser(1_000);
  const { jobId } = await fixture.submit(
    userId,
    'SubmitVariantSold',
    variantSoldRequest(9, '30000000801'),
  );
  await approve(fixture.context, jobId, newId());
  job = await fixture.waitForState(jobId, 'completed');
});
afterEach(() => fixture.close());

const post = (entry: Partial<LedgerEntry>) =>
  fixture.context.store.ledger.post({
    key: `test:${newId()}`,
    userId: job.userId,
    amount: 1,
    type: 'refund',
    jobId: job.id,
    keyId: null,
    note: '',
    createdAt: fixture.clock.now(),
    ...entry,
  });

test('counts the checked documents, over several pages of entries', async () => {
  for (let count = 0; count < 600; count++) await grant(fixture.context, job.userId, 1);
  const result = await audit(fixture.context.store);
  expect(result).toEqual({ accounts: 1, entries: 603, jobs: 1, deletedJobs: 0, problems: [] });
});

test('finds nothing wrong with waiting, rejected, or discarded jobs, or an empty account', async () => {
  const owner = { operatorId: null, reason: '' };
  const userId = await fixture.createUser(100);
  await fixture.submit(userId, 'SubmitVariantSold', variantSoldRequest(2));
  const uncharged = await fixture.submit(userId, 'SubmitVariantSold', variantSoldRequest(2));
  await cancel(fixture.context, uncharged.jobId, owner);
  const charged = await fixture.submit(userId, 'SubmitMerchantItems', {
    urls: ['https://mkta.sg/shop/21'],
  });
  await cancel(fixture.context, charged.jobId, owner);
  await post({ userId, jobId: 'discarded', type: 'charge', amount: -5 });
  await post({ userId, jobId: 'discarded', amount: 5 });
  await fixture.createUser(0);
  expect(await audit(fixture.context.store)).toMatchObject({ accounts: 3, jobs: 4, problems: [] });
});

test.each<[string, () => Promise<unknown>, RegExp]>([
  ['a second refund', () => post({ amount: 5 }), /says 10 refunded, the ledger 15/],
  ['a refund beyond the charge', () => post({ amount: 500 }), /refunded 510 of 100 charged/],
  ['a charge too many', () => post({ type: 'charge', amount: -10 }), /charged 2 times/],
  [
    'a charge under another key',
    () => post({ type: 'charge', amount: -10 }),
    /under an unknown key/,
  ],
  ['an entry of no job', () => post({ jobId: 'nobody' }), /job nobody, which does not exist/],
  [
    'a job that says less than it gave back',
    () => fixture.context.store.jobs.move(job.id, ['completed'], 'completed', 0, { refunded: 0 }),
    /says 0 refunded, the ledger 10/,
  ],
  [
    'a job that keeps other counts than its batches have',
    () =>
      fixture.context.store.jobs.move(job.id, ['completed'], 'completed', 0, {
        counts: { ...job.counts!, units: { total: 10, success: 10, failed: 0 } },
      }),
    /stored as 10 done \+ 0 failed, the batches say 9 \+ 1/,
  ],
  [
    'a job that keeps another number of failed units',
    () =>
      fixture.context.store.jobs.move(job.id, ['completed'], 'completed', 0, {
        counts: { ...job.counts!, units: { total: 10, success: 9, failed: 0 } },
      }),
    /stored as 9 done \+ 0 failed, the batches say 9 \+ 1/,
  ],
  [
    'a job that keeps another number of done units',
    () =>
      fixture.context.store.jobs.move(job.id, ['completed'], 'completed', 0, {
        counts: { ...job.counts!, units: { total: 10, success: 8, failed: 1 } },
      }),
    /stored as 8 done \+ 1 failed, the batches say 9 \+ 1/,
  ],
  [
    'a job that gave back what it earned',
    async () => {
      await post({ amount: 5 });
      await fixture.context.store.jobs.move(job.id, ['completed'], 'completed', 0, {
        refunded: 15,
      });
    },
    /charged 100, earned 90, refunded 15/,
  ],
  [
    'a rejected job that kept its charge',
    () => fixture.context.store.jobs.move(job.id, ['completed'], 'rejected', 0),
    /rejected, charged 100, refunded 10/,
  ],
  [
    'a job that ended without a charge',
    async () => {
      const userId = await fixture.createUser(100);
      const { jobId } = await fixture.submit(userId, 'SubmitVariantSold', variantSoldRequest(2));
      await fixture.context.store.jobs.move(jobId, ['awaiting_approval'], 'failed', 0);
    },
    /costs 20, charged 0/,
  ],
  [
    'a job that ended with work left',
    async () => {
      const userId = await fixture.createUser(100);
      const { jobId } = await fixture.submit(userId, 'SubmitVariantSold', variantSoldRequest(2));
      await fixture.context.store.jobs.move(jobId, ['awaiting_approval'], 'completed', 0);
    },
    /terminal with outstanding batches/,
  ],
])('finds %s', async (_what, spoil, expected) => {
  expect(await fixture.problems()).toEqual([]);
  await spoil();
  const problems = await fixture.problems();
  expect(problems.filter((problem) => expected.test(problem))).toHaveLength(1);
});

test('reports a balance that is not the sum of its ledger, and a job that lost units', async () => {
  const { store } = fixture.context;
  const spoiled = replaceMethods(store, {
    batches: {
      async countJobs(jobIds) {
        const found = await store.batches.countJobs(jobIds);
        return new Map(
          [...found].map(([jobId, { units, ...rest }]) => [
            jobId,
            { ...rest, units: { ...units, total: units.total - 1 } },
          ]),
        );
      },
    },
    ledger: {
      async *audit() {
        for await (const account of store.ledger.audit())
          yield { ...account, balance: account.balance - 1 };
      },
    },
  });
  expect((await audit(spoiled)).problems).toEqual([
    `account ${job.userId}: balance 909, sum of the ledger 910`,
    `job ${job.id}: 9 units, submitted 10`,
    `job ${job.id}: 9 done + 1 failed of 9`,
  ]);
});

test('reports an account that changes all the time as not audited', async () => {
  const { store } = fixture.context;
  const busy = replaceMethods(store, {
    ledger: {
      async *audit() {
        for await (const account of store.ledger.audit()) yield { ...account, sum: null };
      },
    },
  });
  expect((await audit(busy)).problems).toEqual([
    `account ${job.userId}: not audited, because it changed all the time`,
  ]);
});

test('checks deleted jobs by their summaries', async () => {
  const { store } = fixture.context;
  const { success, failed } = job.counts!.units;
  await store.jobs.delete(job.id, { ...job, discount: 0, success, failed, deletedAt: 0 });
  expect(await audit(store)).toMatchObject({ jobs: 0, deletedJobs: 1, problems: [] });
  const spoiled = replaceMethods(store, {
    deletedJobs: {
      list: async (...parameters) => {
        const page = await store.deletedJobs.list(...parameters);
        return { ...page, items: page.items.map((item) => ({ ...item, success: success + 1 })) };
      },
    },
  });
  expect((await audit(spoiled)).problems).toEqual([
    `deleted job ${job.id}: 10 done + 1 failed of 10`,
    `deleted job ${job.id}: charged 100, earned 100, refunded 10`,
  ]);
});

test('reports a negative balance', async () => {
  const { store } = fixture.context;
  const spoiled = replaceMethods(store, {
    ledger: {
      async *audit() {
        for await (const account of store.ledger.audit())
          yield { ...account, balance: -1, sum: -1 };
      },
    },
  });
  expect((await audit(spoiled)).problems).toEqual([`account ${job.userId}: balance -1 is below 0`]);
});

test('does not report a job that ended between two queries', async () => {
  const { store } = fixture.context;
  let reads = 0;
  const list: typeof store.ledger.list = async (...parameters) => {
    const found = await store.ledger.list(...parameters);
    reads += 1;
    // The refund was posted after the first read.
    return reads > 1
      ? found
      : { ...found, items: found.items.filter(({ type }) => type !== 'refund') };
  };
  const earlier = replaceMethods(store, { ledger: { list } });
  expect((await audit(earlier)).problems).toEqual([]);
  expect(reads).toBe(2);
});
