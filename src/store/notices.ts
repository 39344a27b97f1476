import type { Job, NoticeReason } from './documents.ts';

/** Messages that are due about jobs. */
export interface JobNoticeStore {
  /** Returns jobs with a message due at or before `now`, longest due first. */
  findWithDueNotice(now: number, limit: number): Promise<Job[]>;
  /**
   * Replaces a message that was created by the next one and its due time, or by none if null. Returns false
   * if `reason` is not what is due, so that a message about a newer state is not lost.
   */
  advanceNotice(
    jobId: string,
    reason: NoticeReason,
    next: { reason: NoticeReason; at: number } | null,
  ): Promise<boolean>;

  /**
   * Ends the hold of a job that is `held`. A release also makes the notice `released` due, in the same step.
   * Returns the job, or null if it is not held.
   */
  decideHold(jobId: string, decision: 'released' | 'discarded', at: number): Promise<Job | null>;
}
