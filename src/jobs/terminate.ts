import type { Message } from '@bufbuild/protobuf';
import { Fault } from '../base/fault.ts';
import type { Job, Outcome } from '../store/documents.ts';
import type { JobContext } from './context.ts';
import type { JobMethod } from './offers.ts';
import { findJob, show } from './read.ts';
import { finishEnding, terminatedCode } from './settle.ts';

/** Outcome of units that a terminate stopped. */
const terminated = ({ reason }: Job): Outcome => ({
  status: 'FAILED',
  code: terminatedCode,
  message: `Stopped before it was done: the task was terminated. ${reason}`.trim(),
});

/**
 * Stops what is outstanding of a job, gives its credits back and compiles what is done; answers with
 * the job as it is then (decisions, "get_pc_bulk terminate"). Faults: `not_found`, `conflict` for a job that
 * has ended.
 */
export async function terminate(
  context: JobContext,
  method: JobMethod,
  request: Message,
  userId: string,
): Promise<Message> {
  const job = await findJob(context, method, request, userId);
  const stopped = await stopRunning(context, job.id, '');
  if (stopped === null)
    throw new Fault(
      'conflict',
      job.finishedAt === null ? 'The task is ending.' : `The task is ${job.state}.`,
    );
  return show(context, method, stopped, request);
}

/**
 * Stops a running job of any kind; gives the job as it is then, null when it does not run. A worker's later
 * write to a stopped batch matches nothing. `reason`: shown to the owner; may be empty.
 */
export async function stopRunning(context: JobContext, jobId: string, reason: string): Promise<Job | null> {
  const { store, clock, log } = context;
  const patch = reason === '' ? {} : { reason };
  const stopping = await store.moveJob(jobId, ['approved', 'processing'], 'terminating', clock.now(), patch);
  if (stopping === null) return null;
  log.info({ jobId, reason }, 'job is stopped');
  await finishTerminating(context, stopping);
  return (await store.getJob(jobId)) ?? stopping;
}

/** Takes a job from `terminating` to its end. The sweep calls this too. */
export async function finishTerminating(context: JobContext, job: Job): Promise<void> {
  const { store, clock } = context;
  await store.failBatches(job.id, ['waiting', 'queued', 'claimed'], terminated(job), clock.now());
  await finishEnding(context, job);
}
