import type { Delivery, Job, NoticeReason, Webhook } from './documents.ts';
import type { Page, PageRequest } from './store.ts';

/** Messages to people: where they go, which are due, and what became of each. */
export interface NoticeStore {
  /** Jobs with a message due at or before `now`, the longest due first. */
  findJobsWithDueNotice(now: number, limit: number): Promise<Job[]>;
  /**
   * Goes on from a message that was made: to the next one and when it is due, or, with null, to none. False
   * when `reason` is not what is due (any more), so that a state that the job has come to since is not lost.
   */
  advanceNotice(
    jobId: string,
    reason: NoticeReason,
    next: { reason: NoticeReason; at: number } | null,
  ): Promise<boolean>;

  /** The user's webhook. */
  getWebhook(userId: string): Promise<Webhook | null>;
  /** Keeps a webhook whose revision follows that of the one there (1: there is none); false when it does
   *  not: someone else was faster, and nothing is changed. */
  putWebhook(webhook: Webhook): Promise<boolean>;
  /** Removes the user's webhook, if there is one. */
  deleteWebhook(userId: string): Promise<void>;

  /** Keeps a new delivery; false when one with its key is there: nothing is changed then. */
  createDelivery(delivery: Delivery): Promise<boolean>;
  /**
   * Takes up to `limit` pending deliveries whose `nextAttemptAt` is at or before `now`, the longest due first,
   * by raising their `take`. Each goes to one caller, and is due again at `leaseUntil` unless that caller
   * ends or postpones it before.
   */
  claimDeliveries(now: number, leaseUntil: number, limit: number): Promise<Delivery[]>;
  /** Writes how a try ended; false when the delivery is not this take's any more. */
  recordAttempt(id: string, take: number, end: AttemptResult): Promise<boolean>;
  /** Gives a delivery back untried, due at `until`; false when it is not this take's any more. */
  postponeDelivery(id: string, take: number, until: number): Promise<boolean>;
  /** Deliveries to a user's webhook, to operators (null) or to anyone (undefined), newest first. */
  listDeliveries(userId: string | null | undefined, page: PageRequest): Promise<Page<Delivery>>;
  /** Makes a delivery pending again, from its first try on and at once; null when there is none with this id,
   *  or, with `userId`, none of this user. */
  redeliver(id: string, now: number, userId?: string): Promise<Delivery | null>;
}

/** How a try ended: when the next is due, or that it was the last. */
export type AttemptResult = Pick<Delivery, 'target' | 'responseStatus' | 'error'> &
  (
    | { state: 'pending'; nextAttemptAt: number; endedAt: null }
    | { state: 'delivered' | 'failed'; nextAttemptAt: null; endedAt: number }
  );
