import { counted, once } from './text.ts';

const local = once(
  () => new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'medium' }),
);

/** Formats date and time in the local time zone. */
export const formatLocalTime = (date: Date): string => local().format(date);

/** Formats date and time in UTC: "2030-01-07 04:00:00 UTC". */
export const formatUtcTime = (date: Date): string =>
  `${date.toISOString().slice(0, 19).replace('T', ' ')} UTC`;

const units: readonly [unit: string, seconds: number][] = [
  ['day', 86_400],
  ['hour', 3_600],
  ['minute', 60],
  ['second', 1],
];
const maxRelativeDays = 30;

/**
 * Formats a time relative to now: "5 minutes ago", "in 3 hours"; within ten seconds "just now" or
 * "in a moment". Times more than 30 days away are UTC dates.
 */
export function formatRelativeTime(date: Date, nowMs: number): string {
  const seconds = Math.round((date.getTime() - nowMs) / 1000);
  const distance = Math.abs(seconds);
  if (distance > maxRelativeDays * 86_400) return date.toISOString().slice(0, 10);
  // The clocks of the reader's machine and of the service may differ by a second.
  if (distance < 10) return seconds > 1 ? 'in a moment' : 'just now';
  // Intl.RelativeTimeFormat says the same, but takes a phone 60 ms to create.
  const [unit, size] = units.find(([, each]) => distance >= each)!;
  const text = counted(Math.floor(distance / size), unit);
  return seconds > 0 ? `in ${text}` : `${text} ago`;
}

/** Formats a duration in at most two units: "1 h 5 min", "42 s", "less than 1 s". */
export function formatDuration(ms: number): string {
  const seconds = Math.max(0, Math.round(ms / 1000));
  if (seconds === 0 && ms > 0) return 'less than 1 s';
  if (seconds < 60) return `${seconds} s`;
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60)
    return seconds % 60 === 0 ? `${minutes} min` : `${minutes} min ${seconds % 60} s`;
  const hours = Math.floor(minutes / 60);
  if (hours < 48) return minutes % 60 === 0 ? `${hours} h` : `${hours} h ${minutes % 60} min`;
  return `${Math.floor(hours / 24)} days`;
}

/**
 * Describes working hours as the service states them: "08:00-18:00+08:00" becomes "08:00 to 18:00
 * (UTC+08:00)". Returns other text unchanged.
 */
export const describeHours = (workingHours: string): string =>
  workingHours.replace(/^(\d\d:\d\d)-(\d\d:\d\d)([+-]\d\d:\d\d)$/, '$1 to $2 (UTC$3)');
