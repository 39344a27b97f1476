import { processDue } from '../../base/due-work.ts';
import { Fault } from '../../contract/fault.ts';
import type { NotifyContext } from './context.ts';

/** Delay before a failed announcement is retried. */
const retryMs = 60_000;
/** Subjects read per query, and time for the messages of one poll. */
const pageSize = 100;
const maxMs = 10_000;
/** Time between the reminder to operators and an approval deadline. */
const reminderMs = 2 * 3_600_000;

/** The next message of a subject and the time it is due. Null if there is none. */
export type Due<Reason> = { reason: Reason; at: number } | null;

/** Jobs or schedules with messages. */
export interface Subjects<Subject, Reason> {
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
 * Creates the deliveries of the messages that are due. A subject advances to its next message only after its
 * deliveries are stored, so a crash neither loses nor duplicates a message and several processes may announce
 * concurrently. A failed announcement is retried later. Throws `unavailable` while the store is unreachable.
 */
export async function announceDue<Subject extends { id: string }, Reason>(
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

/** Returns the reminder that follows the message to operators about a job that awaits approval. */
export function computeReminder(decideBy: number | null, now: number): Due<'approval_expiring'> {
  return decideBy === null ? null : { reason: 'approval_expiring', at: Math.max(decideBy - reminderMs, now) };
}
