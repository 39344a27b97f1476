import { Fault } from '../../contract/fault.ts';
import { isAccepted } from '../../kinds/states.ts';
import type { Job } from '../../store/documents.ts';
import type { StoreUse } from '../context.ts';
import { type DecideContext, reject } from './decide.ts';
import { stopRunning, type TerminateContext } from './terminate.ts';

/** Dependencies of this module. */
export type CancelContext = StoreUse<'getJob'> & DecideContext & TerminateContext;

/** The canceller of a job, and the reason. */
export interface Canceller {
  /** Null for the owner of the job. */
  operatorId: string | null;
  /** Shown to the owner. */
  reason: string;
}

/** Maximum attempts: the job may be approved, or start, between reading and changing it. */
const maxAttempts = 3;

/**
 * Cancels a job of any kind and returns it. A job that awaits approval is rejected. A running job keeps its finished
 * units and stops the others. Unfinished units are refunded once. Faults: `not_found`; `conflict` for a job that has
 * ended or is ending, and for one whose state keeps changing.
 */
export async function cancel(
  context: CancelContext,
  jobId: string,
  { operatorId, reason }: Canceller,
): Promise<Job> {
  for (let attempt = 0; attempt < maxAttempts; attempt++) {
    const job = await context.store.getJob(jobId);
    if (job?.state === 'awaiting_approval') {
      const message =
        reason || (operatorId === null ? 'Cancelled by its owner.' : 'Cancelled by an operator.');
      try {
        return await reject(context, jobId, operatorId, message);
      } catch (error) {
        if (Fault.from(error).code !== 'conflict') throw error;
      }
    } else if (job?.state === 'approved' || job?.state === 'processing') {
      const stopped = await stopRunning(context, jobId, reason);
      if (stopped !== null) return stopped;
    } else throw notStoppable(jobId, job);
  }
  throw new Fault('conflict', 'The job is changing. Try again.');
}

function notStoppable(jobId: string, job: Job | null): Fault {
  if (job === null || !isAccepted(job)) return new Fault('not_found', `There is no job '${jobId}'.`);
  if (job.finishedAt !== null) return new Fault('conflict', `The job has already ended (${job.state}).`);
  if (job.state === 'approving') return new Fault('conflict', 'The job is starting. Try again in a moment.');
  return new Fault('conflict', 'The job is ending.');
}
