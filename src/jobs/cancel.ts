import { Fault } from '../base/fault.ts';
import { isAccepted } from '../kinds/states.ts';
import type { Job } from '../store/documents.ts';
import type { JobContext } from './context.ts';
import { reject } from './decide.ts';
import { stopRunning } from './terminate.ts';

/** Who stops a job, and why. */
export interface Canceller {
  /** Null: its owner. */
  operatorId: string | null;
  /** Shown to the owner. */
  reason: string;
}

/** Tries in all: the job may be approved, or start, between two looks. */
const tries = 3;

/**
 * Stops a job of any kind: one that waits for approval ends as rejected, of one that runs what is not done is
 * stopped and what is done kept. Credits are given back for all that was not done, once. Gives the job as it
 * is then. Fault `conflict` for a job that has ended or is ending.
 */
export async function cancel(
  context: JobContext,
  jobId: string,
  { operatorId, reason }: Canceller,
): Promise<Job> {
  for (let turn = 0; turn < tries; turn++) {
    const job = await context.store.getJob(jobId);
    if (job?.state === 'awaiting_approval') {
      const words = reason || (operatorId === null ? 'Cancelled by its owner.' : 'Cancelled by an operator.');
      try {
        return await reject(context, jobId, operatorId, words);
      } catch (error) {
        if (Fault.from(error).code !== 'conflict') throw error;
      }
    } else if (job?.state === 'approved' || job?.state === 'processing') {
      const stopped = await stopRunning(context, jobId, reason);
      if (stopped !== null) return stopped;
    } else throw notStoppable(jobId, job);
  }
  throw new Fault('conflict', 'The job changes at this moment: try again.');
}

function notStoppable(jobId: string, job: Job | null): Fault {
  if (job === null || !isAccepted(job)) return new Fault('not_found', `There is no job '${jobId}'.`);
  if (job.finishedAt !== null) return new Fault('conflict', `The job has ended: it is ${job.state}.`);
  if (job.state === 'approving')
    return new Fault('conflict', 'The job is being started: try again in a moment.');
  return new Fault('conflict', 'The job is ending.');
}
