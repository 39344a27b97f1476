import type { Clock } from '../base/clock.ts';
import type { JsonObject } from '../base/json.ts';
import type { FieldDrift } from '../quality/alarms.ts';
import type { Counts, Delivery, Job, JobHold, User } from '../store/documents.ts';
import type { Schedule, ScheduleNotice } from '../store/schedules.ts';

/** Message types, as sent in webhooks. */
export type NoticeType =
  | 'job.ended'
  | 'job.rejected'
  | 'job.awaiting_approval'
  | 'job.approval_expiring'
  | 'schedule.rejected'
  | 'schedule.paused'
  | 'item.changed'
  | 'comparison.failed'
  | 'job.held'
  | 'job.results'
  | 'drift.started'
  | 'job.fields_missing'
  | 'test';

/** Body of a webhook message. */
export interface Notice {
  type: NoticeType;
  /** Time of the event, ISO 8601. */
  timestamp: string;
  data: JsonObject;
}

const time = (ms: number | null): string | null =>
  ms === null ? null : new Date(ms).toISOString();

/** Description of a file with the results of a job. */
export interface FileNotice extends Notice {
  data: { job_id: string; destination: string; format: string; path: string };
}

/** Creates the message to a user whose job ended or was rejected. */
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

/** Creates the notice that tells a user that a job's deliveries are held. */
export function heldNotice(job: Job, { reasons, heldAt }: JobHold, link: string): Notice {
  return {
    type: 'job.held',
    timestamp: new Date(heldAt).toISOString(),
    data: {
      job_id: job.id,
      kind: job.kind,
      market: job.market,
      region: job.region,
      status: job.state,
      reasons: reasons.map((reason) => ({ ...reason })),
      release_path: `/v1/jobs/${job.id}/release`,
      console_url: link,
    },
  };
}

/** Contents of a message about a job awaiting approval. */
export interface Waiting {
  job: Job;
  user: User | null;
  /** URL of the job's page in the console. */
  link: string;
  /** URL of the page of the job's schedule; empty without one. */
  scheduleLink: string;
  now: number;
}

/** Creates the message to operators about a job awaiting approval, at first or as a reminder. */
export function waitingNotice(
  type: 'job.awaiting_approval' | 'job.approval_expiring',
  { job, user, link, now }: Waiting,
): Notice {
  return {
    type,
    timestamp: new Date(type === 'job.awaiting_approval' ? job.stateSince : now).toISOString(),
    data: {
      job_id: job.id,
      schedule_id: job.schedule?.id ?? null,
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

/** Creates the message about a schedule that was rejected, or was paused by the service. */
export function scheduleNotice(
  type: ScheduleNotice,
  { schedule, link, at }: { schedule: Schedule; link: string; at: number },
): Notice {
  return {
    type: `schedule.${type}`,
    timestamp: new Date(at).toISOString(),
    data: {
      schedule_id: schedule.id,
      user_id: schedule.userId,
      name: schedule.name,
      kind: schedule.kind,
      market: schedule.market,
      state: schedule.state,
      reason: schedule.reason,
      units: schedule.units,
      cron: schedule.cron,
      time_zone: schedule.timeZone,
      max_total_credits: schedule.maxTotalCredits,
      next_run_at: time(schedule.nextRunAt),
      console_url: link,
    },
  };
}

/**
 * Creates the message to operators about fields that are newly missing from pages of a marketplace.
 */
export function driftNotice(fields: readonly FieldDrift[]): Notice {
  const { market, page, since } = fields[0]!;
  return {
    type: 'drift.started',
    timestamp: new Date(since ?? 0).toISOString(),
    data: {
      market,
      page,
      fields: fields.map(({ field, absent, baseline, pages }) => ({
        field,
        absent,
        baseline,
        pages,
      })),
      message: `Pages of ${market} (${page}) lack fields that they had before. ${driftRemedy({ market, page }).join('\n')}`,
    },
  };
}

/** Returns the lines of the remedy for missing fields, for operators. */
export function driftRemedy({ market, page }: Pick<FieldDrift, 'market' | 'page'>): string[] {
  return [
    'See examples with `gleaner drift list`.',
    'If the reader has to follow the site: read kept pages again with `gleaner job reread <job>` after the change.',
    `If the change is right: \`gleaner drift accept ${market} ${page}\`.`,
  ];
}

/**
 * Creates the message to operators about an ended job that lacks fields which earlier pages had.
 */
export function missingFieldsNotice(job: Job, fields: readonly FieldDrift[], link: string): Notice {
  return {
    type: 'job.fields_missing',
    timestamp: new Date(job.finishedAt ?? job.createdAt).toISOString(),
    data: {
      job_id: job.id,
      kind: job.kind,
      market: job.market,
      link,
      fields: fields.map(({ field, baseline }) => ({ field, baseline })),
    },
  };
}

/** Creates a test message. */
export function testNotice(now: number): Notice {
  return {
    type: 'test',
    timestamp: new Date(now).toISOString(),
    data: { message: 'Notifications of this service will be sent to this address.' },
  };
}

/** Channel and recipient of a delivery. */
export type Address = Pick<Delivery, 'userId' | 'channel' | 'target'> &
  Partial<Pick<Delivery, 'destinationId'>>;

/**
 * Creates a delivery that is due immediately. `about` makes its key unique: a job id, or a fresh id
 * for a message that may be sent repeatedly.
 */
export function newDelivery(
  id: string,
  address: Address,
  message: { type: NoticeType; about: string; jobId: string | null; body: string },
  clock: Pick<Clock, 'now' | 'steady'>,
): Delivery {
  const { type, about, jobId, body } = message;
  const { userId, channel, target, destinationId = null } = address;
  return {
    id,
    key: `${type}:${about}:${recipientOf(address)}`,
    userId,
    channel,
    type,
    jobId,
    target,
    body,
    destinationId,
    state: 'pending',
    attempts: 0,
    attemptsBefore: 0,
    revision: 0,
    createdAt: clock.now(),
    nextAttemptAt: clock.steady(),
    endedAt: null,
    responseStatus: null,
    error: '',
  };
}

/** Returns the part of a delivery's key that names its recipient. */
function recipientOf({ userId, channel, target, destinationId }: Address): string {
  if (channel === 'file') return `destination:${destinationId}`;
  if (channel === 'email') return `email:${target}`;
  return userId === null ? 'operators' : 'webhook';
}
