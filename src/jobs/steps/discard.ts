import { Fault } from '../../contract/fault.ts';
import { refundDiscarded } from '../../credits/job-credits.ts';
import type { Job } from '../../store/documents.ts';
import type { JobContext, StoreUse } from '../context.ts';
import { stopRunning, type TerminateContext } from './terminate.ts';

/** Dependencies of this module. */
export type DiscardContext = Pick<JobContext, 'changes' | 'clock' | 'log'> &
  StoreUse<'discardJob' | 'getLedgerEntry' | 'moveJob' | 'postLedgerEntry' | 'voidLedgerKey'> &
  TerminateContext;

/** Time between attempts to undo a submit while the store is unavailable, in milliseconds. */
const undoRetryMs = 1_000;

/**
 * Discards a job whose submit failed before it was accepted: refunds its charge and removes it. Returns false and does
 * nothing if the job was accepted meanwhile. The sweep also calls this, for submits that cannot be resumed.
 */
export async function discardSubmitted(context: DiscardContext, jobId: string): Promise<boolean> {
  const job = await context.store.moveJob(jobId, ['submitted'], 'discarding', context.clock.now());
  if (job !== null) await finishDiscard(context, job);
  return job !== null;
}

/** Refunds and removes a job in the state `discarding`. Idempotent. */
export async function finishDiscard({ store, clock, log }: DiscardContext, job: Job): Promise<void> {
  const refunded = await refundDiscarded(store, job, clock.now());
  if (await store.discardJob(job.id))
    log.warn({ jobId: job.id, userId: job.userId, refunded }, 'submit discarded');
}

/** Failed submits of each process that are not undone yet. */
const pending = new WeakMap<object, Set<string>>();

/**
 * Undoes a submit that failed and that its caller cannot repeat under the same job id. While the store is
 * unavailable, retries in the background until the process stops; then the sweep takes over.
 */
export async function undoSubmit(context: DiscardContext, jobId: string): Promise<void> {
  if (await tryUndo(context, jobId)) return;
  const jobIds = pending.get(context.changes) ?? new Set();
  pending.set(context.changes, jobIds);
  jobIds.add(jobId);
  if (jobIds.size === 1) void undoPending(context, jobIds);
}

/** Undoes the failed submits of the process, one after the other: one loop, however many fail during an outage. */
async function undoPending(context: DiscardContext, jobIds: Set<string>): Promise<void> {
  const { signal } = new AbortController();
  while (jobIds.size > 0 && !context.changes.stopped) {
    const [first] = jobIds;
    await context.changes.next(first!, undoRetryMs, signal);
    for (const jobId of jobIds) {
      if (context.changes.stopped || !(await tryUndo(context, jobId))) break;
      jobIds.delete(jobId);
    }
  }
}

async function tryUndo(context: DiscardContext, jobId: string): Promise<boolean> {
  const { store, clock, log } = context;
  try {
    // The last step may have succeeded without an acknowledgement: then the job already waits or runs.
    const unstarted = ['submitted', 'awaiting_approval', 'approved'] as const;
    const job = await store.moveJob(jobId, unstarted, 'discarding', clock.now());
    if (job !== null) await finishDiscard(context, job);
    else await stopRunning(context, jobId, 'The submit failed.');
    return true;
  } catch (error) {
    log.warn({ jobId, error: Fault.from(error).message }, 'submit not undone yet');
    return false;
  }
}
