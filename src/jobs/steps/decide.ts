import type { Message } from '@bufbuild/protobuf';
import { Fault } from '../../contract/fault.ts';
import type { Job } from '../../store/documents.ts';
import { isAccepted, runningStates } from '../../store/job-states.ts';
import { decideHold } from '../../store/jobs.ts';
import { type JobContext, undecidedReason } from '../context.ts';
import { chargeJob } from '../credits.ts';
import type { FailedOutcome } from '../indexed-units.ts';
import type { JobMethod } from '../job-types.ts';
import { findJob, type JobReader, noJob, show } from '../queries/read.ts';
import { testDecision } from '../sandbox.ts';
import { tryDispatch } from './dispatch.ts';
import { failUnits, finishEnding, terminatedCode } from './finalize-job.ts';

/**
 * Approves a job that awaits approval and starts it. Kinds with `charge: 'approval'` are charged
 * now. Throws `not_found`; `conflict` if the job does not await approval; `insufficient_credits`
 * with the shortfall, after which the job still awaits approval.
 */
export async function approve(
  context: JobContext,
  jobId: string,
  operatorId: string | null,
): Promise<Job> {
  const { store, clock } = context;
  const job = await store.jobs.move(jobId, ['awaiting_approval'], 'approving', clock.now(), {
    decidedBy: operatorId,
  });
  if (job === null) throw await notAwaiting(context, jobId);
  return finishApproval(context, job);
}

/**
 * Continues an approval from the state `approving`. The sweep also calls this for approvals
 * interrupted by a crash.
 */
export async function finishApproval(context: JobContext, job: Job): Promise<Job> {
  const { store, clock } = context;
  const { kind } = context.jobTypes.of(job);
  if (kind.charge === 'approval') {
    try {
      await chargeJob(store, job, clock.now());
    } catch (error) {
      if (Fault.from(error).code === 'insufficient_credits') {
        await store.jobs.move(job.id, ['approving'], 'awaiting_approval', clock.now(), {
          decidedBy: null,
        });
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

/**
 * Rejects a job that awaits approval and refunds its charge in full. An empty reason is replaced:
 * it is shown to the owner. Throws `not_found`, `conflict`.
 */
export async function reject(
  context: JobContext,
  jobId: string,
  operatorId: string | null,
  reason: string,
): Promise<Job> {
  const { store, clock } = context;
  const job = await store.jobs.move(jobId, ['awaiting_approval'], 'rejecting', clock.now(), {
    decidedBy: operatorId,
    reason: reason || 'The operator gave no reason.',
  });
  if (job === null) throw await notAwaiting(context, jobId);
  context.log.info({ jobId, operatorId, reason }, 'job rejected');
  await finishEnding(context, job);
  return (await store.jobs.get(jobId)) ?? job;
}

async function notAwaiting(context: JobContext, jobId: string): Promise<Fault> {
  const job = await context.store.jobs.get(jobId);
  if (job === null || !isAccepted(job)) return noJob(jobId);
  return new Fault('conflict', `The job does not await approval: it is ${job.state}.`);
}

/**
 * Decides on a job whose approval deadline has passed: rejects it or, for a test job, makes the
 * decision that its first unit selects. Throws `not_found`, `conflict`.
 */
export async function decideDue(context: JobContext, job: Job): Promise<Job> {
  const decision = job.mode === 'test' ? await decisionOf(context, job) : 'none';
  if (decision === 'approve') return approve(context, job.id, null);
  const reason = decision === 'reject' ? 'The sandbox rejects this job.' : undecidedReason;
  return reject(context, job.id, null, reason);
}

async function decisionOf({ store }: JobContext, { id }: Job) {
  for await (const { units } of store.batches.read(id, { seqs: [0] })) {
    if (units[0] !== undefined) return testDecision(units[0]);
  }
  return 'none';
}

/** The canceller of a job, and the reason. */
export interface Canceller {
  /** Null for the owner of the job. */
  operatorId: string | null;
  /** Shown to the owner. Empty for the default, which says who cancelled the job. */
  reason: string;
}

/** Maximum attempts: the job may be approved, or start, between reading and changing it. */
const maxAttempts = 3;

/**
 * Cancels a job of any kind and returns it. A job that awaits approval is rejected. A running job
 * keeps its finished units and stops the others. Unfinished units are refunded once. Throws
 * `not_found`; `conflict` for a job that has ended or is ending, and for one whose state keeps
 * changing.
 */
export async function cancel(
  context: JobContext,
  jobId: string,
  canceller: Canceller,
): Promise<Job> {
  const cancelledBy =
    canceller.operatorId === null ? 'Cancelled by its owner.' : 'Cancelled by an operator.';
  for (let attempt = 0; attempt < maxAttempts; attempt++) {
    const job = await context.store.jobs.get(jobId);
    let cancelled: Job | null;
    // An approval may have given a reason before.
    const reason = canceller.reason || job?.reason || cancelledBy;
    if (job?.state === 'awaiting_approval')
      cancelled = await cancelWaiting(context, jobId, { ...canceller, reason });
    else if (job !== null && runningStates.includes(job.state))
      cancelled = await stopRunning(context, jobId, reason);
    else throw notStoppable(jobId, job);
    if (cancelled !== null) return cancelled;
  }
  throw new Fault('conflict', 'The job is changing. Try again.');
}

/** Rejects a job that awaits approval. Null if it is no longer awaiting it. */
async function cancelWaiting(
  context: JobContext,
  jobId: string,
  { operatorId, reason }: Canceller,
): Promise<Job | null> {
  try {
    return await reject(context, jobId, operatorId, reason);
  } catch (error) {
    if (Fault.from(error).code !== 'conflict') throw error;
    return null;
  }
}

function notStoppable(jobId: string, job: Job | null): Fault {
  if (job === null || !isAccepted(job)) return noJob(jobId);
  if (job.finishedAt !== null)
    return new Fault('conflict', `The job has already ended (${job.state}).`);
  if (job.state === 'approving')
    return new Fault('conflict', 'The job is starting. Try again in a moment.');
  return new Fault('conflict', 'The job is ending.');
}

/** Outcome of units stopped by a termination. */
const terminated = ({ reason }: Job): FailedOutcome => ({
  status: 'FAILED',
  code: terminatedCode,
  message: `The task was terminated before this item was done. ${reason}`.trim(),
});

/**
 * Stops the outstanding units of a task, refunds them, compiles the finished ones, and returns the
 * task (docs/jobs.md). Throws `not_found`; `conflict` for a task that has ended or is ending.
 */
export async function terminate(
  context: JobContext,
  method: JobMethod,
  request: Message,
  reader: JobReader,
): Promise<Message> {
  const job = await findJob(context, method, request, reader);
  const stopped = await stopRunning(context, job.id, '');
  if (stopped === null)
    throw new Fault(
      'conflict',
      job.finishedAt === null ? 'The task is ending.' : `The task is ${job.state}.`,
    );
  return show(context, method, stopped, request, reader.role);
}

/**
 * Stops a running job of any kind and returns it, or null if it is not running. Later writes of
 * workers to a stopped batch have no effect. `reason` is shown to the owner and may be empty.
 */
export async function stopRunning(
  context: JobContext,
  jobId: string,
  reason: string,
): Promise<Job | null> {
  const { store, clock, log } = context;
  const patch = reason === '' ? {} : { reason };
  const stopping = await store.jobs.move(jobId, runningStates, 'terminating', clock.now(), patch);
  if (stopping === null) return null;
  log.info({ jobId, reason }, 'job stopped');
  await finishTerminating(context, stopping);
  return (await store.jobs.get(jobId)) ?? stopping;
}

/** Ends a job in the state `terminating`. The sweep also calls this. */
export async function finishTerminating(context: JobContext, job: Job): Promise<void> {
  await failUnits(context, job, ['waiting', 'queued', 'claimed'], terminated(job));
  await finishEnding(context, job);
}

/**
 * Releases the deliveries of a job that is held, or discards them. The same write makes the
 * deliveries due. A repeated call returns the job unchanged. Throws `conflict` for a job that is
 * not held, or whose hold was decided otherwise.
 */
export async function releaseHold(
  { store, clock, log }: JobContext,
  { id: jobId }: Job,
  decision: 'released' | 'discarded',
): Promise<Job> {
  const decided = await decideHold(store, jobId, decision, clock.now());
  if (decided !== null) {
    log.info({ jobId, decision }, 'hold decided');
    return decided;
  }
  const job = await store.jobs.get(jobId);
  if (job === null) throw noJob(jobId);
  if (job.hold?.state === decision) return job;
  throw new Fault(
    'conflict',
    job.hold ? `The hold was ${job.hold.state}.` : 'The job is not held.',
  );
}
