import { processDue } from '../base/due-work.ts';
import { Fault } from '../contract/fault.ts';
import { countsOf } from '../store/batch-store.ts';
import type { Job, JobHold, NoticeReason } from '../store/documents.ts';
import type { TrackingRun } from '../store/history.ts';
import { advanceJobNotice } from '../store/jobs.ts';
import { advanceScheduleNotice, type Schedule, type ScheduleNotice } from '../store/schedules.ts';
import { newTrackingRun } from '../store/tracking-run.ts';
import { announceMissingFields } from './announce-drift.ts';
import type { NotifyContext } from './context.ts';
import { waitingEmail } from './email.ts';
import { endNotice, heldNotice, scheduleNotice, waitingNotice } from './message.ts';
import { queueFiles, queueForOperators, queueForUser } from './queue.ts';

/** Delay before a failed announcement is retried. */
const retryMs = 60_000;
/** Subjects read per query, and time for the messages of one poll. */
const pageSize = 100;
const maxMs = 10_000;

/** The next message of a subject and the time it is due. Null if there is none. */
type Due<Reason> = { reason: Reason; at: number } | null;

/** Jobs or schedules with messages. */
interface Subjects<Subject, Reason> {
  /** Field of the log with the id of a subject. */
  idField: 'jobId' | 'scheduleId';
  /** Returns subjects whose message is due at `now`, the longest due first. */
  find(now: number, limit: number): Promise<Subject[]>;
  reasonOf(subject: Subject): Reason;
  /** Stores the deliveries of the due message under stable keys, and returns the next message. */
  announce(subject: Subject, reason: Reason): Promise<Due<Reason>>;
  /** Replaces the due message by the next one. */
  advance(subject: Subject, reason: Reason, next: Due<Reason>): Promise<unknown>;
}

/**
 * Creates the deliveries of the messages that are due. A subject advances to its next message only
 * after its deliveries are stored, so a crash neither loses nor duplicates a message and several
 * processes may announce concurrently. A failed announcement is retried later. Throws `unavailable`
 * while the store is unreachable.
 */
async function announceDue<Subject extends { id: string }, Reason>(
  { clock, log }: NotifyContext,
  { idField, find, reasonOf, announce, advance }: Subjects<Subject, Reason>,
  signal: AbortSignal,
): Promise<void> {
  await processDue(
    {
      claim: (limit) => find(clock.now(), limit),
      claimSize: pageSize,
      concurrency: 1,
      maxMs,
      process: async (subject) =>
        advance(subject, reasonOf(subject), await announce(subject, reasonOf(subject))),
      onError: async (subject, error) => {
        if (Fault.from(error).code === 'unavailable') throw error;
        const reason = reasonOf(subject);
        log.error({ [idField]: subject.id, notice: reason, err: error }, 'announcement failed');
        await advance(subject, reason, { reason, at: clock.now() + retryMs });
      },
    },
    clock,
    signal,
  );
}

/** Delay before a job whose approval is in progress is checked again. */
const decidingMs = 5_000;
/** Delay before a job whose comparison has not ended is checked again. */
const comparingMs = 2_000;

/** Creates the deliveries of all messages about jobs that are due. */
export function announceJobs(context: NotifyContext, signal: AbortSignal): Promise<void> {
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
 * Stores the deliveries of a due message, and the run of a tracked job that ended, and returns the
 * job's next one.
 */
async function announceJob(
  context: NotifyContext,
  job: Job,
  reason: NoticeReason,
): Promise<Due<NoticeReason>> {
  const { clock } = context;
  if (reason !== 'awaiting_approval' && reason !== 'approval_expiring')
    return announceEnd(context, job, reason);
  // An approval can still fail for lack of credits; the job then waits for approval again.
  if (job.state === 'approving') return { reason, at: clock.now() + decidingMs };
  if (job.state !== 'awaiting_approval') return null;
  await notifyOperators(context, job, reason);
  return reason === 'approval_expiring' ? null : computeReminder(job.decideBy, clock.now());
}

/** Stores the deliveries of a job that ended, and its run, and returns its next message. */
async function announceEnd(
  context: NotifyContext,
  job: Job,
  reason: NoticeReason,
): Promise<Due<NoticeReason>> {
  const { store, clock } = context;
  const run = newTrackingRun(job);
  if (run !== null) {
    await store.trackingRuns.insert({ ...run, dueAt: clock.steady(), activeUser: null });
  }
  const counts = job.counts ?? (await countsOf(store, job.id));
  await queueForUser(context, job.userId, job.id, job.id, () =>
    endNotice(job, counts, context.retrievePath(job)),
  );
  if (job.hold?.state === 'held') await queueHeld(context, job, job.hold);
  else if (await awaitsComparison(context, job, run))
    return { reason, at: clock.now() + comparingMs };
  else if (job.hold?.state !== 'discarded') await queueFiles(context, job, counts.units.success);
  if (counts.units.success > 0) await announceMissingFields(context, job);
  return null;
}

/** Time between the reminder to operators and an approval deadline. */
const reminderMs = 2 * 3_600_000;

/** Returns the reminder that follows the message to operators about a job that awaits approval. */
function computeReminder(decideBy: number | null, now: number): Due<'approval_expiring'> {
  return decideBy === null
    ? null
    : { reason: 'approval_expiring', at: Math.max(decideBy - reminderMs, now) };
}

/**
 * Returns true if the files of a job cannot be queued yet, because they contain only what its
 * comparison finds.
 */
async function awaitsComparison(
  { store }: NotifyContext,
  { options, id }: Job,
  run: TrackingRun | null,
) {
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
  if (settings.notices.operatorWebhook === null && settings.notices.email === null) return;
  const waiting = {
    job,
    user: await store.users.get(job.userId),
    link: `${context.publicUrl()}/console/jobs/${job.id}`,
    scheduleLink:
      job.schedule === null ? '' : `${context.publicUrl()}/console/schedules/${job.schedule.id}`,
    now: clock.now(),
  };
  const type = `job.${reason}` as const;
  const message = { notice: waitingNotice(type, waiting), email: waitingEmail(type, waiting) };
  await queueForOperators(context, job.id, job.id, message);
}

/** Creates the deliveries of all messages about schedules that are due. */
export function announceSchedules(context: NotifyContext, signal: AbortSignal): Promise<void> {
  const { store } = context;
  return announceDue<Schedule, ScheduleNotice>(
    context,
    {
      idField: 'scheduleId',
      find: (now, limit) =>
        store.schedules.find({ noticeAt: { atMost: now } }, { order: ['noticeAt', 'id'], limit }),
      reasonOf: ({ notice }) => notice!,
      announce: (schedule, notice) => announceSchedule(context, schedule, notice),
      advance: (schedule, _notice, next) => advanceScheduleNotice(store, schedule, next),
    },
    signal,
  );
}

/** Stores the deliveries of a message, with keys that name the schedule's state. */
async function announceSchedule(
  context: NotifyContext,
  schedule: Schedule,
  notice: ScheduleNotice,
): Promise<Due<ScheduleNotice>> {
  const { id, userId, stateSince } = schedule;
  const link = `${context.publicUrl()}/console/schedules/${id}`;
  await queueForUser(context, userId, `${id}:${stateSince}`, null, () =>
    scheduleNotice(notice, { schedule, link, at: stateSince }),
  );
  return null;
}
