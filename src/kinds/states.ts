import type { BatchSummary, Counts, Job, Outcome, Unit } from '../store/documents.ts';

/** Status words of the interface ("States and transitions"). */
export type TerminalStatus = 'completed' | 'partial_complete' | 'failed';

/** What an ended job is called by how many of its parts succeeded and failed. */
export function aggregate(success: number, failed: number): TerminalStatus {
  if (failed === 0) return 'completed';
  return success === 0 ? 'failed' : 'partial_complete';
}

/** Whether a job's submit was accepted. Until then its owner cannot see it. */
export function isAccepted({ state }: Pick<Job, 'state'>): boolean {
  return state !== 'submitted' && state !== 'discarding';
}

/** State of a job of any kind in the words of the contract. One that is being settled still changes. */
export function jobStatus(job: Job): string {
  switch (job.state) {
    case 'submitted':
    case 'discarding':
    case 'approving':
      return 'awaiting_approval';
    case 'approved':
      return job.decidedBy === null ? 'initializing' : 'processing';
    case 'rejecting':
      return 'rejected';
    case 'settling':
    case 'terminating':
      return 'processing';
    default:
      return job.state;
  }
}

/**
 * State of an approval-flow job as clients see it. A job without outstanding batches is terminal to
 * them even while its file is being made (decisions, "States and shapes"). One that was cancelled is what its
 * parts came to: the interface knows no further word for these kinds.
 */
export function approvalStatus(job: Job, batches: Counts['batches']): string {
  switch (job.state) {
    case 'processing':
    case 'settling':
    case 'terminating':
    case 'terminated':
      return batches.success + batches.failed < batches.total
        ? 'processing'
        : aggregate(batches.success, batches.failed);
    default:
      return jobStatus(job);
  }
}

/**
 * The same for kinds without a file of the whole job: the end is shown once the refunds are on the
 * account.
 */
export function settledStatus(job: Job, units: Counts['units']): string {
  const settling = job.finishedAt === null && (job.state === 'processing' || job.state === 'settling');
  return settling ? 'processing' : approvalStatus(job, units);
}

/** Whether the job was rejected: its batches count as failed then, whether or not they say so yet. */
export function isRejected(job: Job): boolean {
  return job.state === 'rejected' || job.state === 'rejecting';
}

/** `PENDING`, `SUCCESS` or `FAILED` of a batch: SUCCESS when at least one unit succeeded (decisions). */
export function batchStatus(
  batch: Pick<BatchSummary, 'state' | 'success'>,
  job: Job,
): 'PENDING' | 'SUCCESS' | 'FAILED' {
  if (isRejected(job)) return 'FAILED';
  if (batch.state !== 'done') return 'PENDING';
  return batch.success > 0 ? 'SUCCESS' : 'FAILED';
}

/** `PENDING`, `SUCCESS` or `FAILED` of a unit. */
export function unitStatus(outcome: Outcome | undefined, job: Job): 'PENDING' | 'SUCCESS' | 'FAILED' {
  if (outcome) return outcome.status;
  return isRejected(job) ? 'FAILED' : 'PENDING';
}

/** A text field of a unit's input. */
export function inputText(unit: Unit, name: string): string {
  const value = unit.input[name];
  return typeof value === 'string' ? value : '';
}
