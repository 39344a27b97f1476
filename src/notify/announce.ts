import { setImmediate as nextTurn } from 'node:timers/promises';
import { Fault } from '../base/fault.ts';
import type { Job, NoticeReason } from '../store/documents.ts';
import type { NotifyContext } from './context.ts';
import { waitingEmail } from './email.ts';
import { endNotice, waitingNotice } from './message.ts';
import { queueForOperators, queueForUser } from './queue.ts';

/** How long before the end of its wait operators are told of a job again. */
const reminderMs = 2 * 3_600_000;
/** When it is looked again at a job whose approval is under way. */
const decidingMs = 5_000;
/** When a message that could not be made is tried again. */
const mendMs = 60_000;
/** Jobs that are read at once. */
const atOnce = 100;

/** A message that is due at a time; null: none is. */
type Due = { reason: NoticeReason; at: number } | null;

/**
 * Makes the messages that are due, and goes on from each only after its deliveries are kept: they have stable
 * keys, so a crash between the two neither loses nor doubles one, and any number of processes may do it. Fault
 * `unavailable` when the store does not answer.
 */
export async function announce(context: NotifyContext, signal: AbortSignal): Promise<void> {
  const { store, clock, log } = context;
  let due: Job[];
  do {
    due = await store.findNoticeDue(clock.now(), atOnce);
    for (const job of due) {
      if (signal.aborted) return;
      const reason = job.noticeDue!;
      let next: Due;
      try {
        next = await announceJob(context, job, reason);
      } catch (error) {
        if (Fault.from(error).code === 'unavailable') throw error;
        log.error({ jobId: job.id, notice: reason, err: error }, 'message could not be made');
        next = { reason, at: clock.now() + mendMs };
      }
      await store.advanceNotice(job.id, reason, next);
    }
    // An embedded store answers at once: without this nobody else would have a turn before the last page.
    await nextTurn();
  } while (due.length === atOnce);
}

/** Keeps the deliveries of what is due; gives what is due next. */
async function announceJob(context: NotifyContext, job: Job, reason: NoticeReason): Promise<Due> {
  const { store, clock } = context;
  if (reason !== 'awaiting_approval' && reason !== 'approval_expiring') {
    await queueForUser(context, job.userId, job.id, job.id, async () =>
      endNotice(job, job.counts ?? (await store.countJob(job.id)), context.retrievePath(job)),
    );
    return null;
  }
  // It may yet be refused for want of credits: the job waits again then.
  if (job.state === 'approving') return { reason, at: clock.now() + decidingMs };
  if (job.state !== 'awaiting_approval') return null;
  await tellOperators(context, job, reason);
  if (reason === 'approval_expiring' || job.decideBy === null) return null;
  return { reason: 'approval_expiring', at: Math.max(job.decideBy - reminderMs, clock.now()) };
}

async function tellOperators(
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
