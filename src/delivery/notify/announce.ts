import { countsOf } from '../../store/counts.ts';
import type { Job, JobHold, NoticeReason } from '../../store/documents.ts';
import type { TrackingRun } from '../../store/history.ts';
import { advanceJobNotice } from '../../store/jobs.ts';
import { newTrackingRun } from '../../store/tracking-run.ts';
import { announceDue, computeReminder, type Due } from './announce-due.ts';
import type { NotifyContext } from './context.ts';
import { queueFiles } from './deliver.ts';
import { waitingEmail } from './email.ts';
import { endNotice, heldNotice, waitingNotice } from './message.ts';
import { queueForOperators, queueForUser } from './queue.ts';

/** Delay before a job whose approval is in progress is checked again. */
const decidingMs = 5_000;
/** Delay before a job whose comparison has not ended is checked again. */
const comparingMs = 2_000;
/** Creates the deliveries of all messages about jobs that are due. */
export function announce(context: NotifyContext, signal: AbortSignal): Promise<void> {
  const { store } = context;
  return announceDue<Job, NoticeReason>(
    context,
    {
      idField: 'jobId',
      find: (now, limit) =>
        store.jobs.find({ noticeAt: { atMost: now } }, { order: ['noticeAt', 'id'], limit }),
      reasonOf: ({ noticeDue }) => noticeDue!,
      announce: (job, reason) => announceJob(context, job, reason),
      advance: ({ id }, reason, next) => advanceJobNotice(store, id, reason, next),
    },
    signal,
  );
}

/**
 * Stores the deliveries of a due message, and the run of a tracked job that ended, and returns the job's next
 * one.
 */
async function announceJob(
  context: NotifyContext,
  job: Job,
  reason: NoticeReason,
): Promise<Due<NoticeReason>> {
  const { store, clock } = context;
  if (reason !== 'awaiting_approval' && reason !== 'approval_expiring') {
    const run = newTrackingRun(job);
    if (run !== null) await store.trackingRuns.insert({ ...run, activeUser: null });
    const counts = job.counts ?? (await countsOf(store, job.id));
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
  return reason === 'approval_expiring' ? null : computeReminder(job.decideBy, clock.now());
}

/**
 * Returns true if the files of a job cannot be queued yet, because they contain only what its comparison
 * finds.
 */
async function awaitsComparison({ store }: NotifyContext, { options, id }: Job, run: TrackingRun | null) {
  if (run === null || options.only !== 'changed' || !options.deliverTo) return false;
  return (await store.trackingRuns.get(id))?.stage !== 'done';
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
    user: await store.users.get(job.userId),
    link: `${context.publicUrl()}/console/jobs/${job.id}`,
    scheduleLink: job.schedule === null ? '' : `${context.publicUrl()}/console/schedules/${job.schedule.id}`,
    now: clock.now(),
  };
  const type = `job.${reason}` as const;
  const message = { notice: waitingNotice(type, waiting), email: waitingEmail(type, waiting) };
  await queueForOperators(context, job.id, job.id, message);
}
