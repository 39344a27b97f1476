import { Cron } from 'croner';
import { quote } from '../contract/problem-texts.ts';
import type { Schedule } from '../store/schedules.ts';

/** Times of a schedule. */
export type Timing = Pick<Schedule, 'cron' | 'timeZone' | 'startAt' | 'endAt'>;

/** Fields of an expression in order, with their values in words. */
const cronFields = [
  { name: 'minute', values: '0 to 59' },
  { name: 'hour', values: '0 to 23' },
  { name: 'day of the month', values: '1 to 31, or L' },
  { name: 'month', values: '1 to 12, or JAN to DEC' },
  { name: 'day of the week', values: '0 to 7, or SUN to SAT' },
] as const;
const nicknames = ['@hourly', '@daily', '@weekly', '@monthly', '@yearly'];

/** Returns the problem of a cron expression of five fields or a nickname; null for a valid one. */
export function problemOfCron(cron: string): string | null {
  const expected =
    'Input should be a cron expression of five fields ' +
    `such as '0 8 * * *', or ${nicknames.join(', ')}`;
  const fields = cron.trim().split(/\s+/);
  const isNickname = fields.length === 1 && nicknames.includes(fields[0]!);
  // The library reads `?` as a part of the current time.
  if ((fields.length !== cronFields.length && !isNickname) || cron.includes('?'))
    return `${expected}, not ${quote(cron)}`;
  try {
    if (open(cron, 'UTC').nextRun(new Date()) === null) return `${quote(cron)} never occurs`;
    return null;
  } catch {
    return `${expected}, not ${quote(cron)}${invalidFieldText(fields)}`;
  }
}

/**
 * Returns the first field that is invalid by itself, in words; '' if there is none. The messages of
 * the library name the values that it counts with: month 12 for 13.
 */
function invalidFieldText(fields: readonly string[]): string {
  for (const [index, { name, values }] of cronFields.entries()) {
    const field = fields[index];
    if (field === undefined) return '';
    const alone = cronFields.map((_field, other) => (other === index ? field : '*')).join(' ');
    if (!isReadable(alone))
      return `: the ${name} ${quote(field)} should have values from ${values}`;
  }
  return '';
}

function isReadable(cron: string): boolean {
  try {
    open(cron, 'UTC');
    return true;
  } catch {
    return false;
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
 * Returns the first time of a schedule after `after`, in milliseconds since the epoch; null if
 * there is none. A time of day that the clock skips is moved to the end of the gap; one that occurs
 * twice is taken once. An expression with `*` or a step in its minute or hour keeps its interval
 * instead.
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
  new Cron(cron.trim(), {
    timezone,
    mode: '5-part',
    fixedTimeRule: 'no-wildcard',
    paused: true,
  });
