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
  /** Posted by earlier versions within the submit, for batches that could not be queued. */
  refundUnqueued: (jobId: string) => `refund:${jobId}:unqueued`,
};

/**
 * Takes a job's cost from its owner. Faults: `insufficient_credits` with the quota when short, `conflict` when the
 * job ended or was discarded without having been charged.
 */
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

/** Returns the credits charged for a job so far, before refunds. */
export function chargedCredits({ state, cost }: Job, chargedAt: 'submit' | 'approval'): number {
  const isApproved = !['awaiting_approval', 'approving', 'rejecting', 'rejected'].includes(state);
  return chargedAt === 'submit' || isApproved ? cost : 0;
}

/** The fault of a balance that does not cover a cost (interface, QuotaErrorResponse). */
export function creditsShort(required: number, current: number): Fault {
  const words = `The work costs ${required} credits, the account has ${current}: ${required - current} short.`;
  return new Fault('insufficient_credits', words, { quota: { required, current } });
}

/**
 * Brings the refund of an ending job to `owed`: the cost of its failed units, or everything when it was rejected.
 * A job that was not charged is not refunded, and cannot be charged from then on. Returns the total refunded.
 */
export async function refundJob(ledger: LedgerStore, job: Job, owed: number, now: number): Promise<number> {
  if (!(await settleCharge(ledger, job, now))) return 0;
  const earlier = (await ledger.getLedgerEntry(entryKeys.refundUnqueued(job.id)))?.amount ?? 0;
  await refund(ledger, job, entryKeys.refund(job.id), owed - earlier, now);
  return owed;
}

/**
 * Refunds the charge of a job that is being discarded; one that was not charged cannot be charged from then on.
 * Returns the amount.
 */
export async function refundDiscarded(ledger: LedgerStore, job: Job, now: number): Promise<number> {
  if (!(await settleCharge(ledger, job, now))) return 0;
  await refund(ledger, job, entryKeys.refund(job.id), job.cost, now);
  return job.cost;
}

/** Whether a job was discarded or ended without having been charged: its id is used up. */
export function isChargeVoid(ledger: LedgerStore, jobId: string): Promise<boolean> {
  return ledger.isLedgerKeyVoid(entryKeys.charge(jobId));
}

/** Whether the job was charged. If not, a charge that is under way or comes later is refused. */
async function settleCharge(ledger: LedgerStore, job: Job, now: number): Promise<boolean> {
  if (job.cost === 0) return false;
  return (await ledger.voidLedgerKey(entryKeys.charge(job.id), job.userId, now)) !== null;
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
