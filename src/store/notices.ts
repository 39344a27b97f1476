import type { Page, PageOptions } from './cursor.ts';
import type { Delivery, Job, NoticeReason, Webhook } from './documents.ts';

/** Messages that are due about jobs. */
export interface JobNoticeStore {
  /** Returns jobs with a message due at or before `now`, longest due first. */
  findJobsWithDueNotice(now: number, limit: number): Promise<Job[]>;
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

/** Webhooks and deliveries. */
export interface DeliveryStore {
  /** Returns the user's webhook. */
  getWebhook(userId: string): Promise<Webhook | null>;
  /**
   * Stores a webhook if its revision follows the stored one (1 for the first). Returns false, and changes
   * nothing, if another writer was faster.
   */
  putWebhook(webhook: Webhook): Promise<boolean>;
  /** Deletes the user's webhook, if any. */
  deleteWebhook(userId: string): Promise<void>;

  /** Inserts a delivery. Returns false, and changes nothing, if one with the same key exists. */
  createDelivery(delivery: Delivery): Promise<boolean>;
  /**
   * Claims up to `limit` pending deliveries whose `nextAttemptAt` is at or before `now`, longest due first,
   * by incrementing `take`. Each goes to one caller and is due again at `leaseUntil` unless that caller ends
   * or postpones it before.
   */
  claimDeliveries(now: number, leaseUntil: number, limit: number): Promise<Delivery[]>;
  /** Records the result of an attempt. Returns false if the claim `take` was lost. */
  recordAttempt(id: string, take: number, end: AttemptResult): Promise<boolean>;
  /**
   * Sets the time at which a claimed delivery is due again, which releases it or extends the claim. Returns
   * false if the claim `take` was lost.
   */
  postponeDelivery(id: string, take: number, until: number): Promise<boolean>;
  /** Lists deliveries to a user's webhook, to operators (null), or all (undefined), newest first. */
  listDeliveries(userId: string | null | undefined, page: PageOptions): Promise<Page<Delivery>>;
  /**
   * Makes a delivery pending and due at `now`, with a new series of attempts. Returns null if there is no
   * delivery with this id or, with `userId`, if it belongs to another user.
   */
  redeliver(id: string, now: number, userId?: string): Promise<Delivery | null>;
}

/** Result of a delivery attempt: the time of the next attempt, or the end. */
export type AttemptResult = Pick<Delivery, 'target' | 'responseStatus' | 'error'> &
  (
    | { state: 'pending'; nextAttemptAt: number; endedAt: null }
    | { state: 'delivered' | 'failed'; nextAttemptAt: null; endedAt: number }
  );

/** Notices to users and operators. */
export interface NoticeStore extends JobNoticeStore, DeliveryStore {}
