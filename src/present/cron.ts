import { capitalize } from './text.ts';

/** Times of a schedule that have a form of their own, with their labels. */
export const repeats = {
  hourly: 'Every hour',
  daily: 'Every day',
  weekdays: 'Monday to Friday',
} as const;

/**
 * Times of a schedule: a repeat with the time of day as "08:00", of which an hourly one uses the
 * minutes.
 */
export interface Repeat {
  repeat: keyof typeof repeats;
  time: string;
}

const pad = (text: string) => text.padStart(2, '0');

/** Returns the repeat that a cron expression describes. Null if it describes none of them. */
export function readCron(cron: string): Repeat | null {
  const [, minute, hour, days] =
    /^(\d{1,2}) (\d{1,2}|\*) \* \* (\*|1-5|MON-FRI)$/i.exec(cron.trim()) ?? [];
  if (minute === undefined || hour === undefined || Number(minute) > 59) return null;
  if (hour === '*') return days === '*' ? { repeat: 'hourly', time: `00:${pad(minute)}` } : null;
  if (Number(hour) > 23) return null;
  return { repeat: days === '*' ? 'daily' : 'weekdays', time: `${pad(hour)}:${pad(minute)}` };
}

/** Returns the cron expression of a repeat. */
export function writeCron({ repeat, time }: Repeat): string {
  const [hour = 0, minute = 0] = time.split(':').map(Number);
  if (repeat === 'hourly') return `${minute} * * * *`;
  return `${minute} ${hour} * * ${repeat === 'daily' ? '*' : '1-5'}`;
}

/** Days of the week in the order of cron, where 7 is Sunday as well. */
const weekdays = [
  'Sunday',
  'Monday',
  'Tuesday',
  'Wednesday',
  'Thursday',
  'Friday',
  'Saturday',
  'Sunday',
];

/** Describes a cron expression: "Every day at 08:00"; other expressions are returned unchanged. */
export function cronText(cron: string): string {
  const [, daily = '', day = ''] = /^(\S+ \S+ \* \*) ([0-7]|[a-z]{3})$/i.exec(cron.trim()) ?? [];
  const weekday = weekdays.find(
    (name, at) => day === String(at) || name.slice(0, 3) === capitalize(day.toLowerCase()),
  );
  const read = readCron(weekday === undefined ? cron : `${daily} *`);
  if (read === null) return cron;
  const time = read.repeat === 'hourly' ? `minute ${Number(read.time.slice(3))}` : read.time;
  if (weekday === undefined) return `${repeats[read.repeat]} at ${time}`;
  return read.repeat === 'hourly' ? cron : `Every ${weekday} at ${time}`;
}
