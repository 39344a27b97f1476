import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { aJob, anEntry, aTime, aUser } from '../store/conformance/samples.ts';
import type { Job, LedgerEntry } from '../store/documents.ts';
import { openSqliteStore } from '../store/sqlite/open.ts';
import type { Store } from '../store/store.ts';
import { chargeJob, entryKeys, isChargeVoid, jobRefunds, refundJob } from './credits.ts';

const now = aTime + 1_000;
let store: Store;
let job: Job;

beforeEach(async () => {
  store = openSqliteStore({ path: ':memory:' });
  const user = aUser();
  await store.users.insert(user);
  await store.ledger.post(anEntry(user.id, 100));
  job = aJob({ userId: user.id, cost: 20 });
});
afterEach(() => store.close());

/**
 * Returns the entries of the job by key: the charge, the refund at the end, the refund at
 * submission.
 */
async function entries(): Promise<LedgerEntry[]> {
  const { items } = await store.ledger.list({ userId: job.userId }, { limit: 10 });
  return items
    .filter(({ type }) => type !== 'grant')
    .toSorted((one, other) => (one.key < other.key ? -1 : 1));
}

const entry = (type: 'charge' | 'refund', key: string, amount: number): LedgerEntry => ({
  key,
  userId: job.userId,
  amount,
  type,
  jobId: job.id,
  keyId: null,
  note: '',
  createdAt: now,
});
const charge = () => entry('charge', `charge:${job.id}`, -20);
const balance = async () => (await store.users.get(job.userId))!.balance;

describe('chargeJob()', () => {
  test('charges the owner once', async () => {
    await chargeJob(store, job, now);
    await chargeJob(store, job, now);
    expect(await entries()).toEqual([charge()]);
    expect(await balance()).toBe(80);
  });

  test('throws insufficient_credits with the cost and the balance', async () => {
    await expect(chargeJob(store, { ...job, cost: 101 }, now)).rejects.toMatchObject({
      code: 'insufficient_credits',
      message: 'The work costs 101 credits, the account has 100: 1 short.',
      quota: { required: 101, current: 100 },
    });
    expect(await entries()).toEqual([]);
  });

  test('posts no entry for a job without a cost', async () => {
    await chargeJob(store, { ...job, cost: 0 }, now);
    expect(await entries()).toEqual([]);
  });

  test('fails after the job ended without a charge', async () => {
    expect(await isChargeVoid(store, job.id)).toBe(false);
    await refundJob(store, job, 0, now);
    expect(await isChargeVoid(store, job.id)).toBe(true);
    await expect(chargeJob(store, job, now)).rejects.toMatchObject({ code: 'conflict' });
    expect(await balance()).toBe(100);
  });
});

describe('refundJob()', () => {
  test.each([15, 0])('refunds %d credits once', async (owed) => {
    await chargeJob(store, job, now);
    expect(await refundJob(store, job, owed, now)).toBe(owed);
    expect(await refundJob(store, job, owed, now)).toBe(owed);
    const refunds = owed > 0 ? [entry('refund', `refund:${job.id}`, owed)] : [];
    expect(await entries()).toEqual([charge(), ...refunds]);
    expect(await balance()).toBe(80 + owed);
  });

  test('refunds nothing for a job that was not charged, and voids its charge', async () => {
    expect(await refundJob(store, job, 20, now)).toBe(0);
    expect(await isChargeVoid(store, job.id)).toBe(true);
    expect(await entries()).toEqual([]);
  });

  test('is listed after the charge, also if the clock of the process that charged was ahead', async () => {
    await chargeJob(store, job, now + 5_000);
    await refundJob(store, job, 20, now);
    const { items } = await store.ledger.list({ userId: job.userId }, { limit: 2 });
    expect(items.map(({ type, createdAt }) => [type, createdAt])).toEqual([
      ['refund', now + 5_000],
      ['charge', now + 5_000],
    ]);
  });

  test('refunds nothing for a job without a cost and voids no key', async () => {
    const free = { ...job, cost: 0 };
    expect(await refundJob(store, free, 20, now)).toBe(0);
    expect(await isChargeVoid(store, job.id)).toBe(false);
    expect(await entries()).toEqual([]);
  });
});

describe('jobRefunds()', () => {
  test('returns no entry for a job that was not charged', async () => {
    expect(await jobRefunds(store, job)).toEqual({ charged: false, entry: null });
  });

  test('names the entry of the refund', async () => {
    await chargeJob(store, job, now);
    expect(await jobRefunds(store, job)).toEqual({ charged: true, entry: null });
    await refundJob(store, job, 15, now);
    expect(await jobRefunds(store, job)).toEqual({
      charged: true,
      entry: entryKeys.refund(job.id),
    });
  });
});
