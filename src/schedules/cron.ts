import { Cron } from 'croner';
import { quote } from '../contract/problem-texts.ts';
import type { Schedule } from '../store/schedules.ts';

/** Times of a schedule. */
export type Timing = Pick<Schedule, 'cron' | 'timeZone' | 'startAt' | 'endAt'>;

const fieldCount = 5;
const nicknames = ['@hourly', '@daily', '@weekly', '@monthly', '@yearly'];

/** Returns the problem of a cron expression of five fields or a nickname; null for a valid one. */
export function problemOfCron(cron: string): string | null {
  const expected = `Input should be a cron expression of five fields such as '0 8 * * *', or ${nicknames.join(', ')}`;
  const fields = cron.trim().split(/\s+/);
  const isNickname = fields.length === 1 && nicknames.includes(fields[0]!);
  // The library reads `?` as a part of the current time.
  if ((fields.length !== fieldCount && !isNickname) || cron.includes('?'))
    return `${expected}, not ${quote(cron)}`;
  try {
    return open(cron, 'UTC').nextRun(new Date()) === null ? `${quote(cron)} has no time` : null;
  } catch (error) {
    return `${expected}, not ${quote(cron)}: ${(error as Error).message.replace(/^CronPattern: /, '')}`;
  }
}

/** Returns the problem of a name of a time zone; null for a valid one. */
export function problemOfTimeZone(timeZone: string): string | null {
  try {
    new Intl.DateTimeFormat('en', { timeZone });
    return null;
  } catch {
    return `Input should be an IANA time zone such as Europe/Berlin, not ${quote(timeZone)}`;
  }
}

/**
 * Returns the first time of a schedule after `after`, in milliseconds since the epoch; null if there is none.
 * A time of day that the clock skips is moved to the end of the gap; one that occurs twice is taken once. An
 * expression with `*` or a step in its minute or hour keeps its interval instead.
 */
export function nextTime({ cron, timeZone, startAt, endAt }: Timing, after: number): number | null {
  const from = startAt === null ? after : Math.max(after, startAt - 1);
  const next = open(cron, timeZone).nextRun(new Date(from))?.getTime() ?? null;
  return next === null || (endAt !== null && next >= endAt) ? null : next;
}

/** Returns up to `count` times of a schedule after `after`. */
export function nextTimes(timing: Timing, after: number, count: number): number[] {
  const times: number[] = [];
  for (let last: number | null = after; times.length < count; ) {
    last = nextTime(timing, last);
    if (last === null) break;
    times.push(last);
  }
  return times;
}

const open = (cron: string, timezone: string) =>
  new Cron(cron.trim(), { timezone, mode: '5-part', fixedTimeRule: 'no-wildcard', paused: true });
