import { timestampMs } from '@bufbuild/protobuf/wkt';
import type { UsageDay } from '../../../gen/gleaner/account/v1/account_pb.ts';
import type { TrackedItem } from '../../../gen/gleaner/history/v1/history_pb.ts';
import type { Job } from '../../../gen/gleaner/job/v1/job_pb.ts';
import type { Origin } from '../../../gen/gleaner/operator/v1/operator_pb.ts';
import type { Schedule } from '../../../gen/gleaner/schedule/v1/schedule_pb.ts';
import { hasChanged } from '../../../src/present/item.ts';
import { counted, formatCount, formatPercent } from '../../../src/present/text.ts';
import { originState, summarizeMinutes } from '../ui/origins/totals.ts';

const dayMs = 86_400_000;

/**
 * Describes how long a balance lasts at the mean use of the given days, oldest first, since the
 * first use in them: "about 1,200 a day recently, 10 days left at this rate".
 */
export function burnText(
  balance: number | bigint,
  days: readonly Pick<UsageDay, 'charged' | 'refunded'>[],
): string {
  const used = days.reduce((total, { charged, refunded }) => total + Number(charged - refunded), 0);
  if (used <= 0) return 'None used recently';
  const perDay = used / (days.length - days.findIndex(({ charged }) => charged > 0n));
  const left = Math.floor(Number(balance) / perDay);
  const rate = perDay < 1 ? 'less than 1' : `about ${formatCount(perDay)}`;
  const leftText = left > 365 ? 'over a year' : counted(left, 'day');
  return `${rate} a day recently, ${leftText} left at this rate`;
}

/**
 * Counts the items that changed in the last 24 hours; the first reading of an item does not count.
 * `items` is the first page, the latest change first: "12+" if all of it is of the last 24 hours
 * and not the last page, and "–" if none of these changed, since later pages may have.
 */
export function changedText(
  items: readonly Pick<TrackedItem, 'firstAt' | 'changedAt'>[],
  hasMore: boolean,
  nowMs: number,
): string {
  const recent = items.filter(
    ({ changedAt }) => changedAt && timestampMs(changedAt) > nowMs - dayMs,
  );
  const changed = recent.filter(hasChanged).length;
  const isCounted = recent.length < items.length || !hasMore;
  if (isCounted) return formatCount(changed);
  return changed === 0 ? '–' : `${formatCount(changed)}+`;
}

/** Returns the jobs that have not ended, the ones that await approval first. */
export function outstandingJobs(...lists: readonly (readonly Job[])[]): Job[] {
  const jobs = new Map(lists.flat().map((job) => [job.jobId, job]));
  return [...jobs.values()].filter(({ ended }) => !ended);
}

/** Returns the schedule that runs next, if any. */
export function nextSchedule(schedules: readonly Schedule[]): Schedule | undefined {
  const due = schedules.filter(({ nextRunAt }) => nextRunAt !== undefined);
  return due.toSorted(
    (one, other) => timestampMs(one.nextRunAt!) - timestampMs(other.nextRunAt!),
  )[0];
}

/** Summarizes origins: how many are paused, and what share of the last hour's requests failed. */
export function summarizeOrigins(origins: readonly Origin[], nowMs: number) {
  const paused = origins.filter(
    ({ pausedUntil, probing, minutes }) =>
      originState(
        { pausedUntilMs: pausedUntil && timestampMs(pausedUntil), probing, minutes },
        nowMs,
      ) === 'paused',
  ).length;
  const { requests, failedShare, refusedShare } = summarizeMinutes(
    origins.flatMap(({ minutes }) => minutes),
  );
  const note =
    requests === 0
      ? 'No requests in the last hour'
      : `${formatPercent(failedShare + refusedShare)} of ` +
        `${counted(requests, 'request')} failed or were blocked`;
  return { paused, note };
}
