import { Fault } from '../../contract/fault.ts';
import { isAccepted } from '../../kinds/states.ts';
import type { Job } from '../../store/documents.ts';
import { type JobContext, undecidedReason } from '../context.ts';
import { chargeJob } from '../credits/job-credits.ts';
import { testDecision } from '../sandbox.ts';
import { tryDispatch } from './dispatch.ts';
import { finishEnding } from './finalize-job.ts';

/**
 * Approves a job that awaits approval and starts it. Kinds with `charge: 'approval'` are charged now. Throws
 * `not_found`; `conflict` if the job does not await approval; `insufficient_credits` with the shortfall,
 * after which the job still awaits approval.
 */
export async function approve(context: JobContext, jobId: string, operatorId: string | null): Promise<Job> {
  const { store, clock } = context;
  const job = await store.jobs.move(jobId, ['awaiting_approval'], 'approving', clock.now(), {
    decidedBy: operatorId,
  });
  if (job === null) throw await notAwaiting(context, jobId);
  return finishApproval(context, job);
}

/**
 * Continues an approval from the state `approving`. The sweep also calls this for approvals interrupted by a
 * crash.
 */
export async function finishApproval(context: JobContext, job: Job): Promise<Job> {
  const { store, clock } = context;
  const { kind } = context.jobTypes.of(job);
  if (kind.charge === 'approval') {
    try {
      await chargeJob(store, job, clock.now());
    } catch (error) {
      if (Fault.from(error).code === 'insufficient_credits') {
        await store.jobs.move(job.id, ['approving'], 'awaiting_approval', clock.now(), { decidedBy: null });
      }
      throw error;
    }
  }
  const approved = await store.jobs.move(job.id, ['approving'], 'approved', clock.now());
  if (approved === null) return (await store.jobs.get(job.id)) ?? job;
  context.log.info({ jobId: job.id, operatorId: job.decidedBy }, 'job approved');
  // Outside working hours, or without a queue, the sweep dispatches the job later.
  await tryDispatch(context, approved);
  return (await store.jobs.get(job.id)) ?? approved;
}

/** Rejects a job that awaits approval and refunds its charge in full. Throws `not_found`, `conflict`. */
export async function reject(
  context: JobContext,
  jobId: string,
  operatorId: string | null,
  reason: string,
): Promise<Job> {
  const { store, clock } = context;
  const job = await store.jobs.move(jobId, ['awaiting_approval'], 'rejecting', clock.now(), {
    decidedBy: operatorId,
    reason,
  });
  if (job === null) throw await notAwaiting(context, jobId);
  context.log.info({ jobId, operatorId, reason }, 'job rejected');
  await finishEnding(context, job);
  return (await store.jobs.get(jobId)) ?? job;
}

async function notAwaiting(context: JobContext, jobId: string): Promise<Fault> {
  const job = await context.store.jobs.get(jobId);
  if (job === null || !isAccepted(job)) return new Fault('not_found', `There is no job '${jobId}'.`);
  return new Fault('conflict', `The job does not await approval: it is ${job.state}.`);
}

/**
 * Decides on a job whose approval deadline has passed: rejects it, or does what the first unit of a test job
 * says. Throws `not_found`, `conflict`.
 */
export async function decideDue(context: JobContext, job: Job): Promise<Job> {
  const decision = job.mode === 'test' ? await decisionOf(context, job) : 'none';
  if (decision === 'approve') return approve(context, job.id, null);
  const reason = decision === 'reject' ? 'The sandbox rejects this job.' : undecidedReason;
  return reject(context, job.id, null, reason);
}

async function decisionOf({ store }: JobContext, { id }: Job) {
  for await (const { units } of store.batches.read(id, [0])) {
    if (units[0] !== undefined) return testDecision(units[0]);
  }
  return 'none';
}
