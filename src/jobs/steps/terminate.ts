import type { Message } from '@bufbuild/protobuf';
import { Fault } from '../../contract/fault.ts';
import type { Job } from '../../store/documents.ts';
import type { JobContext, StoreUse } from '../context.ts';
import type { JobMethod } from '../offers.ts';
import { findJob, type ReadContext, show } from '../queries/read.ts';
import { type FailedOutcome, failUnits } from '../unit-metrics.ts';
import { finishEnding, type SettleContext, terminatedCode } from './settle.ts';

/** Dependencies of this module. */
export type TerminateContext = Pick<JobContext, 'clock' | 'log' | 'metrics'> &
  StoreUse<'failBatches' | 'getJob' | 'moveJob'> &
  ReadContext &
  SettleContext;

/** Outcome of units stopped by a termination. */
const terminated = ({ reason }: Job): FailedOutcome => ({
  status: 'FAILED',
  code: terminatedCode,
  message: `The task was terminated before this item was done. ${reason}`.trim(),
});

/**
 * Stops the outstanding units of a task, refunds them, compiles the finished ones, and returns the task (docs/jobs.md).
 * Faults: `not_found`; `conflict` for a task that has ended or is ending.
 */
export async function terminate(
  context: TerminateContext,
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
 * Stops a running job of any kind and returns it, or null if it is not running. Later writes of workers to a stopped
 * batch have no effect. `reason` is shown to the owner and may be empty.
 */
export async function stopRunning(
  context: TerminateContext,
  jobId: string,
  reason: string,
): Promise<Job | null> {
  const { store, clock, log } = context;
  const patch = reason === '' ? {} : { reason };
  const stopping = await store.moveJob(jobId, ['approved', 'processing'], 'terminating', clock.now(), patch);
  if (stopping === null) return null;
  log.info({ jobId, reason }, 'job stopped');
  await finishTerminating(context, stopping);
  return (await store.getJob(jobId)) ?? stopping;
}

/** Ends a job in the state `terminating`. The sweep also calls this. */
export async function finishTerminating(context: TerminateContext, job: Job): Promise<void> {
  await failUnits(context, job, ['waiting', 'queued', 'claimed'], terminated(job));
  await finishEnding(context, job);
}
