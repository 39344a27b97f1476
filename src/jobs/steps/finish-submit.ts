import { Fault } from '../../contract/fault.ts';
import { chargeJob } from '../../credits/job-credits.ts';
import type { Job } from '../../store/documents.ts';
import type { JobPatch } from '../../store/store.ts';
import type { JobContext, StoreUse } from '../context.ts';
import { type DiscardContext, discardSubmitted } from './discard.ts';
import { type DispatchContext, failUnqueued, tryDispatch } from './dispatch.ts';

/** Dependencies of this module. */
export type FinishSubmitContext = Pick<JobContext, 'clock' | 'log' | 'offers'> &
  StoreUse<'getJob' | 'moveJob' | 'postLedgerEntry'> &
  DiscardContext &
  DispatchContext;

/**
 * Continues a submit from the state `submitted`: charges the job if its kind charges at submit, then queues it or lets
 * it await approval. The sweep also calls this for submits interrupted by a crash. Returns null if the job was
 * discarded. Fault `insufficient_credits` after discarding the job.
 */
export async function finishSubmit(context: FinishSubmitContext, jobId: string): Promise<Job | null> {
  const { store, clock } = context;
  const job = await store.getJob(jobId);
  if (job === null || job.state === 'discarding') return null;
  if (job.state !== 'submitted') return job;
  if (!(await chargeSubmit(context, job))) return currentOf(context, jobId);
  const now = clock.now();
  const waits = job.decideBy !== null;
  const next = waits
    ? await store.moveJob(jobId, ['submitted'], 'awaiting_approval', now, noticeOf(job, now))
    : await store.moveJob(jobId, ['submitted'], 'approved', now);
  if (next === null) return currentOf(context, jobId);
  if (waits) {
    context.log.info(
      { jobId, userId: job.userId, kind: job.kind, market: job.market, cost: job.cost },
      'job awaits approval',
    );
    return next;
  }
  const dispatched = await tryDispatch(context, next);
  return dispatched === 'unqueued' ? failUnqueued(context, next) : next;
}

/** Returns the notice to operators about a job that awaits approval. Test jobs are not their concern. */
const noticeOf = ({ mode }: Job, now: number): JobPatch =>
  mode === 'test' ? {} : { noticeDue: 'awaiting_approval', noticeAt: now };

/** Returns a job that another process continued, or null if it was discarded. */
async function currentOf({ store }: FinishSubmitContext, jobId: string): Promise<Job | null> {
  const job = await store.getJob(jobId);
  return job?.state === 'discarding' ? null : job;
}

/**
 * Charges a job if its kind charges at submit. Returns false if another process accepted or discarded the job. Fault
 * `insufficient_credits` after discarding it.
 */
async function chargeSubmit(context: FinishSubmitContext, job: Job): Promise<boolean> {
  const { kind } = context.offers.of(job);
  if (kind.charge !== 'submit' && job.decideBy !== null) return true;
  try {
    await chargeJob(context.store, job, context.clock.now());
    return true;
  } catch (error) {
    const { code } = Fault.from(error);
    // `conflict`: a job with this id was discarded before.
    const isFinal = code === 'insufficient_credits' || code === 'conflict';
    const discarded = isFinal && (await discardSubmitted(context, job.id));
    if (code === 'conflict' || (isFinal && !discarded)) return false;
    throw error;
  }
}
