import { setImmediate as yieldToEventLoop } from 'node:timers/promises';
import { Fault } from '../contract/fault.ts';
import type { Job, JobHold, NoticeReason } from '../store/documents.ts';
import type { TrackingRun } from '../store/history.ts';
import { newTrackingRun } from '../store/tracking-run.ts';
import type { NotifyContext } from './context.ts';
import { queueFiles } from './deliver.ts';
import { waitingEmail } from './email.ts';
import { endNotice, heldNotice, waitingNotice } from './message.ts';
import { queueForOperators, queueForUser } from './queue.ts';

/** Time before the approval deadline at which operators are reminded. */
const reminderMs = 2 * 3_600_000;
/** Delay before a job whose approval is in progress is checked again. */
const decidingMs = 5_000;
/** Delay before a failed announcement is retried. */
const retryMs = 60_000;
/** Delay before a job whose comparison has not ended is checked again. */
const comparingMs = 2_000;
/** Jobs read per query. */
const pageSize = 100;

/** The next message of a job and the time it is due; null if there is none. */
type Due = { reason: NoticeReason; at: number } | null;

/**
 * Creates the deliveries of all messages that are due. A job advances to its next message only after its deliveries
 * are stored under stable keys, so a crash neither loses nor duplicates a message and several processes may announce
 * concurrently. Throws Fault `unavailable` while the store is unreachable.
 */
export async function announce(context: NotifyContext, signal: AbortSignal): Promise<void> {
  const { store, clock, log } = context;
  let due: Job[];
  do {
    due = await store.findJobsWithDueNotice(clock.now(), pageSize);
    for (const job of due) {
      if (signal.aborted) return;
      const reason = job.noticeDue!;
      let next: Due;
      try {
        next = await announceJob(context, job, reason);
      } catch (error) {
        if (Fault.from(error).code === 'unavailable') throw error;
        log.error({ jobId: job.id, notice: reason, err: error }, 'announcement failed');
        next = { reason, at: clock.now() + retryMs };
      }
      await store.advanceNotice(job.id, reason, next);
    }
    // The embedded store resolves without I/O, so this loop would otherwise block the event loop until the last page.
    await yieldToEventLoop();
  } while (due.length === pageSize);
}

/** Stores the deliveries of a due message, and the run of a tracked job that ended, and returns the job's next one. */
async function announceJob(context: NotifyContext, job: Job, reason: NoticeReason): Promise<Due> {
  const { store, clock } = context;
  if (reason !== 'awaiting_approval' && reason !== 'approval_expiring') {
    const run = newTrackingRun(job);
    if (run !== null) await store.createTrackingRun(run);
    const counts = job.counts ?? (await store.countJob(job.id));
    await queueForUser(context, job.userId, job.id, job.id, () =>
      endNotice(job, counts, context.retrievePath(job)),
    );
    if (job.hold?.state === 'held') await queueHeld(context, job, job.hold);
    else if (await awaitsComparison(context, job, run)) return { reason, at: clock.now() + comparingMs };
    else if (job.hold?.state !== 'discarded') await queueFiles(context, job, counts.units.success);
    return null;
  }
  // An approval can still fail for lack of credits; the job then waits for approval again.
  if (job.state === 'approving') return { reason, at: clock.now() + decidingMs };
  if (job.state !== 'awaiting_approval') return null;
  await notifyOperators(context, job, reason);
  if (reason === 'approval_expiring' || job.decideBy === null) return null;
  return { reason: 'approval_expiring', at: Math.max(job.decideBy - reminderMs, clock.now()) };
}

/** Returns whether the files of a job cannot be queued yet, because they contain only what its comparison finds. */
async function awaitsComparison({ store }: NotifyContext, { options, id }: Job, run: TrackingRun | null) {
  if (run === null || options.only !== 'changed' || !options.deliverTo) return false;
  return (await store.getTrackingRun(id))?.stage !== 'done';
}

/** Tells the user that the deliveries of a job wait for a decision. */
async function queueHeld(context: NotifyContext, job: Job, hold: JobHold): Promise<void> {
  await queueForUser(context, job.userId, job.id, job.id, () =>
    heldNotice(job, hold, `${context.publicUrl()}/console/jobs/${job.id}`),
  );
}

async function notifyOperators(
  context: NotifyContext,
  job: Job,
  reason: 'awaiting_approval' | 'approval_expiring',
): Promise<void> {
  const { settings, store, clock } = context;
  if (settings.operatorWebhook === null && settings.email === null) return;
  const waiting = {
    job,
    user: await store.getUser(job.userId),
    link: `${context.publicUrl()}/console/jobs/${job.id}`,
    now: clock.now(),
  };
  const type = `job.${reason}` as const;
  const message = { notice: waitingNotice(type, waiting), email: waitingEmail(type, waiting) };
  await queueForOperators(context, job.id, job.id, message);
}
