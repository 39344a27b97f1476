/**
 * A daily window in one time zone, outside of which work of kinds with working hours does not
 * start.
 */
export interface WorkingHours {
  /** Minutes after midnight in the zone; the end is exclusive. */
  startMinute: number;
  endMinute: number;
  /** Minutes east of UTC. */
  offsetMinutes: number;
}

/** Parses `08:00-18:00+08:00`. Throws an Error that states the expected format. */
export function parseWorkingHours(text: string): WorkingHours {
  const [, startsAt = '', endsAt = '', sign, offset = ''] =
    /^(\d\d:\d\d)-(\d\d:\d\d)([+-])(\d\d:\d\d)$/.exec(text) ?? [];
  const startMinute = minutesOf(startsAt);
  const endMinute = minutesOf(endsAt);
  const offsetMinutes = minutesOf(offset);
  const isValid =
    startMinute < dayMinutes &&
    endMinute <= dayMinutes &&
    startMinute !== endMinute &&
    offsetMinutes <= maxOffsetMinutes;
  if (!isValid) throw new Error('expected a window such as 08:00-18:00+08:00, or off');
  return { startMinute, endMinute, offsetMinutes: sign === '-' ? -offsetMinutes : offsetMinutes };
}

const dayMinutes = 24 * 60;
/** Maximum distance of a time zone from UTC. */
const maxOffsetMinutes = 14 * 60;

/** Returns the minutes of a time such as `08:30`. NaN for another text. */
function minutesOf(time: string): number {
  const [hours, minutes] = time.split(':').map(Number) as [number, number?];
  if (minutes !== undefined && minutes < 60) return hours * 60 + minutes;
  return Number.NaN;
}

/** Formats working hours as parseWorkingHours() reads them. */
export function formatWorkingHours({
  startMinute,
  endMinute,
  offsetMinutes,
}: WorkingHours): string {
  const text = (minutes: number) =>
    [Math.floor(minutes / 60), minutes % 60].map((part) => String(part).padStart(2, '0')).join(':');
  const sign = offsetMinutes < 0 ? '-' : '+';
  return `${text(startMinute)}-${text(endMinute)}${sign}${text(Math.abs(offsetMinutes))}`;
}

const dayMs = 86_400_000;

/** Returns the earliest time from `now` on that is within the window. */
export function nextWithin(hours: WorkingHours, now: number): number {
  if (isWithin(hours, now)) return now;
  const start = (hours.startMinute - hours.offsetMinutes) * 60_000;
  return start + Math.ceil((now - start) / dayMs) * dayMs;
}

/**
 * Returns true if `now` (milliseconds since the epoch) is within the window, which may cross
 * midnight.
 */
export function isWithin(hours: WorkingHours, now: number): boolean {
  const minute = (((Math.floor(now / 60_000) + hours.offsetMinutes) % 1440) + 1440) % 1440;
  return hours.startMinute < hours.endMinute
    ? minute >= hours.startMinute && minute < hours.endMinute
    : minute >= hours.startMinute || minute < hours.endMinute;
}
