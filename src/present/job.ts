import { timestampDate } from '@bufbuild/protobuf/wkt';
import type { Job, Unit } from '../../gen/gleaner/job/v1/job_pb.ts';
import { jobTypeText, marketTitle } from './names.ts';
import { counted, formatCount, formatUnits, regionText } from './text.ts';

type NamedJob = Pick<Job, 'kind' | 'market' | 'options'>;

/** Returns the name of a job, or its kind and marketplace. */
export const jobName = (job: NamedJob): string => job.options?.name ?? jobTypeText(job);

/** Returns the title of a job: its name, or its kind, marketplace, and number of units. */
export const jobTitle = (job: NamedJob & Pick<Job, 'total'>): string =>
  job.options?.name ?? `${jobTypeText(job)}, ${formatUnits(job.total)}`;

/** Error codes of units that never ran. */
const notRunCodes: ReadonlySet<string> = new Set(['rejected', 'terminated', 'not_queued']);

/** Returns whether an error code means that the unit never ran. */
export const isNotRun = (code: string): boolean => notRunCodes.has(code);

/** Returns the status of a unit: `PENDING`, `SUCCESS`, `FAILED` or `NOT_RUN`. */
export const unitStatus = ({ status, code }: Pick<Unit, 'status' | 'code'>): string =>
  isNotRun(code) ? 'NOT_RUN' : status;

/** Returns how long a job has run, or ran, in milliseconds; null before its start. */
export function durationMs(
  { startedAt, finishedAt }: Pick<Job, 'startedAt' | 'finishedAt'>,
  now: number,
) {
  if (!startedAt) return null;
  return (
    (finishedAt ? timestampDate(finishedAt).getTime() : now) - timestampDate(startedAt).getTime()
  );
}

/**
 * Describes why a job waits, with the names of the marketplace and the country: "Shopee, Indonesia
 * (id): blocked (page_blocked)" for "mkta/id: blocked (page_blocked)".
 */
export function waitText(reason: string): string {
  const [, market = '', region, rest] = /^(\w+)(?:\/([^:]+))?: (.*)$/.exec(reason) ?? [];
  const title = marketTitle(market);
  if (title === market) return reason;
  return `${title}${region === undefined ? '' : `, ${regionText(region)}`}: ${rest}`;
}

/** Describes a job's progress: "117 of 400 collected, 3 failed, 280 not run". */
export function progressText({
  success,
  failed,
  notRun,
  total,
}: Pick<Job, 'success' | 'failed' | 'notRun' | 'total'>): string {
  if (notRun > 0 && notRun === total) return 'Not run';
  const ran = failed - notRun;
  return [
    `${formatCount(success)} of ${formatCount(total)} collected`,
    ran > 0 ? `${formatCount(ran)} failed` : '',
    notRun > 0 ? `${formatCount(notRun)} not run` : '',
  ]
    .filter(Boolean)
    .join(', ');
}

/**
 * Describes the credits of a job: what it costs before the charge, then what was charged and
 * refunded. A job on test data costs nothing.
 */
export function creditsText({
  cost,
  charged,
  refunded,
  ended,
}: Pick<Job, 'cost' | 'charged' | 'refunded' | 'ended'>): string {
  if (charged === 0 && ended) return 'Nothing charged';
  if (cost === 0 && charged === 0) return 'Costs nothing';
  if (charged === 0) return `${counted(cost, 'credit')} on approval`;
  const refund = refunded > 0 ? `, ${formatCount(refunded)} refunded` : '';
  return `${counted(charged, 'credit')}${refund}`;
}
