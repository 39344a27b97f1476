import type { Message } from '@bufbuild/protobuf';
import { Fault } from '../base/fault.ts';
import type { Job, Outcome } from '../store/documents.ts';
import type { JobContext } from './context.ts';
import type { JobMethod } from './offers.ts';
import { findJob, show } from './read.ts';
import { finishEnding } from './settle.ts';

/** Outcome of units that a terminate stopped. */
const terminated: Outcome = {
  status: 'FAILED',
  code: 'terminated',
  message: 'Stopped before it was done: the task was terminated.',
};

/**
 * Stops what is outstanding of a job, gives its credits back and compiles what is done; answers with
 * the job as it is then (decisions, "get_pc_bulk terminate"). A worker's later write to a stopped
 * batch matches nothing. Faults: `not_found`, `conflict` for a job that has ended.
 */
export async function terminate(
  context: JobContext,
  method: JobMethod,
  request: Message,
  userId: string,
): Promise<Message> {
  const { store, clock } = context;
  const job = await findJob(context, method, request, userId);
  const stopping = await store.moveJob(job.id, ['approved', 'processing'], 'terminating', clock.now());
  if (stopping === null)
    throw new Fault(
      'conflict',
      job.finishedAt === null ? 'The task is ending.' : `The task is ${job.state}.`,
    );
  await finishTerminating(context, stopping);
  return show(context, method, (await store.getJob(job.id)) ?? stopping, request);
}

/** Takes a job from `terminating` to its end. The sweep calls this too. */
export async function finishTerminating(context: JobContext, job: Job): Promise<void> {
  const { store, clock } = context;
  await store.failBatches(job.id, ['waiting', 'queued', 'claimed'], terminated, clock.now());
  await finishEnding(context, job);
}
