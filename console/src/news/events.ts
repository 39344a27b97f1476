import { type Timestamp, timestampMs } from '@bufbuild/protobuf/wkt';
import type { Job } from '../../../gen/gleaner/job/v1/job_pb.ts';
import type { FieldDrift, Origin } from '../../../gen/gleaner/operator/v1/operator_pb.ts';
import { failureGuide } from '../jobs/failure-guide.ts';
import { progressText } from '../jobs/outcome.ts';
import { formatStatus } from '../jobs/status.ts';
import { kindText, marketText } from '../offers/offers.ts';

/** Something that happened, with the page that shows it. */
export interface NewsEvent {
  key: string;
  at: Timestamp;
  title: string;
  detail: string;
  /** Path of the page. */
  to: string;
}

const jobName = ({ kind, market }: Job) => `${kindText(kind)} on ${marketText(market)}`;

/** Returns the jobs that ended, as events for their user. */
export function userEvents(jobs: readonly Job[]): NewsEvent[] {
  return jobs.flatMap((job) =>
    job.finishedAt
      ? [
          {
            key: `ended ${job.jobId}`,
            at: job.finishedAt,
            title: `${jobName(job)}: ${formatStatus(job.status).toLowerCase()}`,
            detail: progressText(job),
            to: `/jobs/${job.jobId}`,
          },
        ]
      : [],
  );
}

/** Inputs of operatorEvents(). */
export interface OperatorState {
  /** Jobs that await approval. */
  waiting: readonly Job[];
  origins: readonly Origin[];
  alarms: readonly FieldDrift[];
}

/** Returns new approvals, paused origins and drift alarms, as events for operators. */
export function operatorEvents({ waiting, origins, alarms }: OperatorState): NewsEvent[] {
  return [
    ...waiting.flatMap((job) =>
      job.createdAt
        ? [
            {
              key: `waiting ${job.jobId}`,
              at: job.createdAt,
              title: `${jobName(job)}: awaiting approval`,
              detail: job.userName,
              to: `/jobs/${job.jobId}`,
            },
          ]
        : [],
    ),
    ...origins.flatMap(({ origin, since, reason, pausedUntil }) =>
      since && pausedUntil
        ? [
            {
              key: `paused ${origin}`,
              at: since,
              title: `Origin paused: ${failureGuide(reason).heading.toLowerCase()}`,
              detail: origin,
              to: '/origins',
            },
          ]
        : [],
    ),
    ...alarms.flatMap(({ market, page, field, since }) =>
      since
        ? [
            {
              key: `drift ${market} ${page} ${field}`,
              at: since,
              title: `Drift alarm on ${marketText(market)}`,
              detail:
                field === '(page)'
                  ? `${formatStatus(page)} pages cannot be read`
                  : `${field} is missing from ${page} pages`,
              to: '/origins',
            },
          ]
        : [],
    ),
  ];
}

/** Returns the events after a time in milliseconds, newest first. */
export function eventsSince(events: readonly NewsEvent[], sinceMs: number): NewsEvent[] {
  return events
    .filter(({ at }) => timestampMs(at) > sinceMs)
    .sort((one, other) => timestampMs(other.at) - timestampMs(one.at));
}
