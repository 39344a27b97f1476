import type { BatchSummary, Outcome, Unit } from '../store/batches.ts';
import type { Counts, Job } from '../store/documents.ts';
import { jobStatus, submittingStates } from '../store/job-states.ts';

/** Terminal status of a job or batch (docs/concepts.md). */
export type TerminalStatus = 'completed' | 'partial_complete' | 'failed';

/** Returns the terminal status for the counts of succeeded and failed parts. */
export function aggregate(success: number, failed: number): TerminalStatus {
  if (failed === 0) return 'completed';
  return success === 0 ? 'failed' : 'partial_complete';
}

/**
 * Returns the member of a unit's view that marks a reused result: when it was collected, in Unix
 * seconds.
 */
export function reusedMember(outcome: Outcome | undefined): { collectedAt?: number } {
  if (outcome?.status !== 'SUCCESS' || outcome.collectedAt === undefined) return {};
  return { collectedAt: Math.floor(outcome.collectedAt / 1000) };
}

/** Returns true if a job's submission was accepted. Until then its owner cannot see it. */
export function isAccepted({ state }: Pick<Job, 'state'>): boolean {
  return !submittingStates.includes(state);
}

/**
 * Returns the public status of a job with approval. A job without outstanding batches is terminal,
 * even while its file is being written. A cancelled job has the status of its parts, because the
 * API has no status for it.
 */
export function approvalStatus(job: Job, batches: Counts['batches']): string {
  const status = jobStatus(job);
  if (status !== 'processing' && status !== 'terminated') return status;
  return batches.success + batches.failed < batches.total
    ? 'processing'
    : aggregate(batches.success, batches.failed);
}

/**
 * Returns the same status for kinds without a merged file. The job becomes terminal once its
 * refunds are posted.
 */
export function settledStatus(job: Job, units: Counts['units']): string {
  const settling =
    job.finishedAt === null && (job.state === 'processing' || job.state === 'settling');
  return settling ? 'processing' : approvalStatus(job, units);
}

/** Returns true if the job was rejected. All its batches then count as failed. */
export function isRejected(job: Job): boolean {
  return jobStatus(job) === 'rejected';
}

/** Returns the status of a batch. It is SUCCESS if at least one unit succeeded. */
export function batchStatus(
  batch: Pick<BatchSummary, 'state' | 'success'>,
  job: Job,
): 'PENDING' | 'SUCCESS' | 'FAILED' {
  if (isRejected(job)) return 'FAILED';
  if (batch.state !== 'done') return 'PENDING';
  return batch.success > 0 ? 'SUCCESS' : 'FAILED';
}

export function unitStatus(
  outcome: Outcome | undefined,
  job: Job,
): 'PENDING' | 'SUCCESS' | 'FAILED' {
  if (outcome) return outcome.status;
  return isRejected(job) ? 'FAILED' : 'PENDING';
}

/** Returns a string field of a unit's input, or '' if it is absent. */
export function inputText(unit: Unit, name: string): string {
  const value = unit.input[name];
  return typeof value === 'string' ? value : '';
}
