import type { JsonObject } from '../base/json.ts';
import type { Counts, Delivery, Job, NoticeReason, User } from '../store/documents.ts';

/** Types of messages. */
export type NoticeType =
  | 'job.ended'
  | 'job.rejected'
  | 'job.awaiting_approval'
  | 'job.approval_expiring'
  | 'test';

/** A message as webhooks carry it. */
export interface Notice {
  type: NoticeType;
  /** When what it tells of happened, ISO 8601. */
  timestamp: string;
  data: JsonObject;
}

/** Type of the message that is due for a reason. */
export function typeOf(reason: NoticeReason): NoticeType {
  if (reason === 'awaiting_approval' || reason === 'approval_expiring') return `job.${reason}`;
  return reason === 'rejected' ? 'job.rejected' : 'job.ended';
}

const time = (ms: number | null): string | null => (ms === null ? null : new Date(ms).toISOString());

/** What a user is told of a job that has ended or was rejected. */
export function endNotice(job: Job, { units }: Counts, retrievePath: string): Notice {
  const rejected = job.state === 'rejected';
  return {
    type: rejected ? 'job.rejected' : 'job.ended',
    timestamp: new Date(job.finishedAt ?? job.stateSince).toISOString(),
    data: {
      job_id: job.id,
      task_id: job.number,
      kind: job.kind,
      market: job.market,
      region: job.region,
      status: job.state,
      total: job.totalUnits,
      success: units.success,
      failed: rejected ? job.totalUnits : units.failed,
      cost: job.cost,
      refunded: job.refunded,
      reason: job.reason,
      created_at: time(job.createdAt),
      finished_at: time(job.finishedAt),
      retrieve_path: retrievePath,
    },
  };
}

/** What operators are told of a job that waits for them. */
export interface Waiting {
  job: Job;
  user: User | null;
  /** Page of the console that decides on it. */
  link: string;
  now: number;
}

/** What operators are told of a job that waits for approval, first or near the end of its time. */
export function waitingNotice(
  type: 'job.awaiting_approval' | 'job.approval_expiring',
  { job, user, link, now }: Waiting,
): Notice {
  return {
    type,
    timestamp: new Date(type === 'job.awaiting_approval' ? job.stateSince : now).toISOString(),
    data: {
      job_id: job.id,
      user_id: job.userId,
      user_name: user?.name ?? '',
      user_email: user?.email ?? '',
      balance: user?.balance ?? 0,
      kind: job.kind,
      market: job.market,
      region: job.region,
      total: job.totalUnits,
      cost: job.cost,
      created_at: time(job.createdAt),
      decide_by: time(job.decideBy),
      console_url: link,
    },
  };
}

/** What a test says. */
export function testNotice(now: number): Notice {
  return {
    type: 'test',
    timestamp: new Date(now).toISOString(),
    data: { message: 'Messages of this service arrive here.' },
  };
}

/** Which message of which channel it is, and where it goes. */
export type Address = Pick<Delivery, 'userId' | 'channel' | 'target'>;

/** A delivery to be tried at once. `about`: what makes it happen once: a job's id, or an id of its own. */
export function newDelivery(
  id: string,
  { userId, channel, target }: Address,
  message: { type: NoticeType; about: string; jobId: string | null; body: string },
  now: number,
): Delivery {
  const { type, about, jobId, body } = message;
  const to = channel === 'email' ? `email:${target}` : userId === null ? 'operators' : 'webhook';
  return {
    id,
    key: `${type}:${about}:${to}`,
    userId,
    channel,
    type,
    jobId,
    target,
    body,
    state: 'pending',
    attempts: 0,
    attemptsBefore: 0,
    take: 0,
    createdAt: now,
    nextAttemptAt: now,
    endedAt: null,
    responseStatus: null,
    error: '',
  };
}
