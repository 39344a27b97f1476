import { Fault } from '../base/fault.ts';
import type { Job, LedgerEntry } from '../store/documents.ts';
import type { LedgerStore } from '../store/store.ts';

/**
 * The ledger entries of a job, each with a stable key, so that each happens once whatever crashes or
 * comes twice (decisions, "Credits").
 */
export const entryKeys = {
  charge: (jobId: string) => `charge:${jobId}`,
  refund: (jobId: string) => `refund:${jobId}`,
  /** What was given back within the submit, for batches that could not be queued. */
  refundUnqueued: (jobId: string) => `refund:${jobId}:unqueued`,
};

/** Takes a job's cost from its owner. Fault `insufficient_credits` with the quota when short. */
export async function chargeJob(ledger: LedgerStore, job: Job, now: number): Promise<void> {
  if (job.cost === 0) return;
  const key = entryKeys.charge(job.id);
  const posting = await ledger.postLedgerEntry({
    key,
    userId: job.userId,
    amount: -job.cost,
    type: 'charge',
    jobId: job.id,
    note: '',
    createdAt: now,
  });
  if (!posting.posted) throw creditsShort(job.cost, posting.balance);
}

/** The fault of a balance that does not cover a cost (interface, QuotaErrorResponse). */
export function creditsShort(required: number, current: number): Fault {
  const words = `The work costs ${required} credits, the account has ${current}: ${required - current} short.`;
  return new Fault('insufficient_credits', words, { quota: { required, current } });
}

/** Gives back credits for batches that could not be queued. */
export async function refundUnqueued(
  ledger: LedgerStore,
  job: Job,
  amount: number,
  now: number,
): Promise<void> {
  await refund(ledger, job, entryKeys.refundUnqueued(job.id), amount, now);
}

/**
 * Brings what a job gave back to `owed`: what its failed units cost, or everything when it was
 * rejected. Nothing was charged: nothing is given back. Gives the total that stands in the ledger.
 */
export async function refundJob(ledger: LedgerStore, job: Job, owed: number, now: number): Promise<number> {
  if ((await ledger.getLedgerEntry(entryKeys.charge(job.id))) === null) return 0;
  const earlier = (await ledger.getLedgerEntry(entryKeys.refundUnqueued(job.id)))?.amount ?? 0;
  await refund(ledger, job, entryKeys.refund(job.id), owed - earlier, now);
  return owed;
}

async function refund(
  ledger: LedgerStore,
  job: Job,
  key: string,
  amount: number,
  now: number,
): Promise<void> {
  if (amount <= 0) return;
  await ledger.postLedgerEntry({
    key,
    userId: job.userId,
    amount,
    type: 'refund',
    jobId: job.id,
    note: '',
    createdAt: now,
  });
}

/** What stands in the ledger of a job's credits. */
export interface JobRefunds {
  /** Whether its cost was taken. */
  charged: boolean;
  /** Key of the entry that gave a failed unit's credits back, by the unit's fault code; null before it is made. */
  entryOf(code: string): string | null;
}

/** Looks up which entries gave back credits of a job. */
export async function jobRefunds(ledger: LedgerStore, { id }: Pick<Job, 'id'>): Promise<JobRefunds> {
  const [charge, refunded, unqueued] = await Promise.all(
    [entryKeys.charge(id), entryKeys.refund(id), entryKeys.refundUnqueued(id)].map((key) =>
      ledger.getLedgerEntry(key),
    ),
  );
  const keyOf = (entry: LedgerEntry | null | undefined) => entry?.key ?? null;
  return {
    charged: charge != null,
    entryOf: (code) => keyOf(code === 'not_queued' ? (unqueued ?? refunded) : refunded),
  };
}
