import type { Batch, BatchSummary, Outcome, Unit } from '../store/batches.ts';
import type { Job } from '../store/documents.ts';
import { unitStatus } from '../store/job-states.ts';
import type { Store } from '../store/store.ts';

/** A batch with the index of its first unit in the job, from 0. */
export interface IndexedBatch {
  batch: Batch;
  first: number;
}

/** A unit with its index in the job, its status and its outcome. */
export interface IndexedUnit {
  /** Index in the job, from 0. */
  index: number;
  batchId: string;
  region: string;
  unit: Unit;
  status: 'PENDING' | 'SUCCESS' | 'FAILED';
  /** Undefined while the unit is outstanding. */
  outcome: Outcome | undefined;
}

/** Outcome of a unit that failed. */
export type FailedOutcome = Outcome & { status: 'FAILED' };

/** Outcome of the units of a rejected job. */
export const rejectedOutcome = ({ reason }: Pick<Job, 'reason'>): FailedOutcome => ({
  status: 'FAILED',
  code: 'rejected',
  message: `The job was rejected. ${reason}`.trim(),
});

/**
 * Reads the batches of a job whose summaries `isRead` accepts, in order and a few at a time. Other
 * batches cost only their summary. `first` is the index of the batch's first unit in the job.
 */
export async function* readIndexedBatches(
  store: Store,
  jobId: string,
  isRead: (summary: BatchSummary, first: number) => boolean,
): AsyncGenerator<IndexedBatch> {
  const firsts = new Map<number, number>();
  let first = 0;
  for (const summary of await store.batches.find({ jobId })) {
    if (isRead(summary, first)) firsts.set(summary.seq, first);
    first += summary.total;
  }
  for await (const batch of store.batches.read(jobId, { seqs: [...firsts.keys()] }))
    yield { batch, first: firsts.get(batch.seq)! };
}

/**
 * Yields the units of a batch. Units of a rejected job count as failed even before their batch is
 * updated.
 */
export function* unitsOf(job: Job, { batch, first }: IndexedBatch): Generator<IndexedUnit> {
  for (const [at, unit] of batch.units.entries()) {
    const storedOutcome = batch.outcomes[at];
    const status = unitStatus(storedOutcome, job);
    const outcome = storedOutcome ?? (status === 'FAILED' ? rejectedOutcome(job) : undefined);
    yield {
      index: first + at,
      batchId: batch.id,
      region: batch.region,
      unit,
      status,
      outcome,
    };
  }
}

/** Returns a filter for batches that may contain failed units. */
export function mayHoldFailed(job: Job): (summary: BatchSummary) => boolean {
  // While a job is being rejected, its batches are not marked as failed yet.
  return ({ failed }) => failed > 0 || job.state === 'rejecting';
}
