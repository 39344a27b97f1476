import { Fault } from '../base/fault.ts';
import { chargeJob } from '../credits/job-credits.ts';
import { isAccepted } from '../kinds/states.ts';
import type { Job } from '../store/documents.ts';
import type { JobContext } from './context.ts';
import { tryDispatch } from './dispatch.ts';
import { finishEnding } from './settle.ts';

/**
 * Starts a waiting job. Kinds that charge at approval take the credits now; short, the approval is
 * refused with the shortfall and the job keeps waiting (decisions, "variant sold"). Faults:
 * `not_found`, `conflict` when the job does not wait, `insufficient_credits`.
 */
export async function approve(context: JobContext, jobId: string, operatorId: string): Promise<Job> {
  const { store, clock } = context;
  const job = await store.moveJob(jobId, ['awaiting_approval'], 'approving', clock.now(), {
    decidedBy: operatorId,
  });
  if (job === null) throw await notWaiting(context, jobId);
  return finishApproval(context, job);
}

/** Takes a job from `approving` on. The sweep calls this too, for approvals that a crash cut short. */
export async function finishApproval(context: JobContext, job: Job): Promise<Job> {
  const { store, clock } = context;
  const { kind } = context.offers.of(job);
  if (kind.charge === 'approval') {
    try {
      await chargeJob(store, job, clock.now());
    } catch (error) {
      if (Fault.from(error).code === 'insufficient_credits') {
        await store.moveJob(job.id, ['approving'], 'awaiting_approval', clock.now(), { decidedBy: null });
      }
      throw error;
    }
  }
  const approved = await store.moveJob(job.id, ['approving'], 'approved', clock.now());
  if (approved === null) return (await store.getJob(job.id)) ?? job;
  context.log.info({ jobId: job.id, operatorId: job.decidedBy }, 'job approved');
  // Closed hours or a queue that is away hold nothing up here: the sweep dispatches then.
  await tryDispatch(context, approved);
  return (await store.getJob(job.id)) ?? approved;
}

/** Ends a waiting job as rejected; what was charged is given back in full. Faults as `approve`. */
export async function reject(
  context: JobContext,
  jobId: string,
  operatorId: string | null,
  reason: string,
): Promise<Job> {
  const { store, clock } = context;
  const job = await store.moveJob(jobId, ['awaiting_approval'], 'rejecting', clock.now(), {
    decidedBy: operatorId,
    reason,
  });
  if (job === null) throw await notWaiting(context, jobId);
  context.log.info({ jobId, operatorId, reason }, 'job rejected');
  await finishEnding(context, job);
  return (await store.getJob(jobId)) ?? job;
}

async function notWaiting(context: JobContext, jobId: string): Promise<Fault> {
  const job = await context.store.getJob(jobId);
  if (job === null || !isAccepted(job)) return new Fault('not_found', `There is no job '${jobId}'.`);
  return new Fault('conflict', `The job does not wait for approval: it is ${job.state}.`);
}
