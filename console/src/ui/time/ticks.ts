const day = 86_400;
const steps = [
  1,
  2,
  5,
  10,
  15,
  30,
  60,
  120,
  300,
  600,
  900,
  1_800,
  3_600,
  7_200,
  14_400,
  28_800,
  43_200,
  day,
];
const maxTicks = 7;

/**
 * Returns the interval of the ticks of a time axis that is some seconds long: a round one, in
 * seconds.
 */
function intervalOf(seconds: number): number {
  const step = steps.find((each) => seconds / each < maxTicks);
  return step ?? day * Math.ceil(seconds / day / (maxTicks - 1));
}

/** Returns the ticks of a time axis from 0 to the given seconds, at round intervals. */
export function timeTicks(seconds: number): number[] {
  const step = intervalOf(seconds);
  return Array.from({ length: Math.floor(seconds / step) + 1 }, (_, index) => index * step);
}

export interface DateTick {
  /** Milliseconds since the epoch. */
  at: number;
  label: string;
}

/**
 * Returns the ticks of an axis between two times, in milliseconds since the epoch, at round local
 * times. Each label says what the ticks differ in: the day, the time, or both.
 */
export function dateTicks(from: number, to: number): DateTick[] {
  const step = intervalOf((to - from) / 1000);
  const [first, last] = [new Date(from), new Date(to)];
  const isOneDay = first.toDateString() === last.toDateString();
  const isOneYear = first.getFullYear() === last.getFullYear();
  const parts: Intl.DateTimeFormatOptions = {};
  if (!isOneDay) {
    parts.month = 'short';
    parts.day = 'numeric';
  }
  if (!isOneYear) parts.year = 'numeric';
  if (step < day) {
    parts.hour = 'numeric';
    parts.minute = '2-digit';
  }
  if (step < 60) parts.second = '2-digit';
  const label = new Intl.DateTimeFormat('en-US', parts);
  const midnight = new Date(from);
  midnight.setHours(0, 0, 0, 0);
  const ticks: DateTick[] = [];
  // Days are counted by the calendar, since they differ in length.
  const begin = step < day ? Math.ceil((from - midnight.getTime()) / 1000 / step) : 0;
  for (let count = begin; ; count += 1) {
    const tick = new Date(midnight);
    if (step < day) tick.setTime(midnight.getTime() + count * step * 1000);
    else tick.setDate(tick.getDate() + (count * step) / day);
    const at = tick.getTime();
    if (at > to) return ticks;
    if (at >= from) ticks.push({ at, label: label.format(tick) });
  }
}
