/** Times of a schedule that have a form of their own, with their labels. */
export const repeats = {
  hourly: 'Every hour',
  daily: 'Every day',
  weekdays: 'Monday to Friday',
  weekly: 'Every week',
} as const;

/**
 * Times of a schedule: a repeat with the time of day as "08:00", of which an hourly one uses the
 * minutes. `weekday` is the day of a weekly one, from 0 for Sunday to 6.
 */
export interface Repeat {
  repeat: keyof typeof repeats;
  time: string;
  weekday: number;
}

/** Days of the week in the order of cron. */
export const weekdays = [
  'Sunday',
  'Monday',
  'Tuesday',
  'Wednesday',
  'Thursday',
  'Friday',
  'Saturday',
] as const;

/** Repeat of a form that has no other yet. */
export const defaultRepeat: Repeat = { repeat: 'daily', time: '08:00', weekday: 1 };

const pad = (text: string) => text.padStart(2, '0');

/** Returns the repeat that a cron expression describes. Null if it describes none of them. */
export function readCron(cron: string): Repeat | null {
  const [, minute, hour, days] =
    /^(\d{1,2}) (\d{1,2}|\*) \* \* (\S+)$/.exec(cron.trim().toUpperCase()) ?? [];
  if (minute === undefined || hour === undefined || Number(minute) > 59) return null;
  const onDays = readDays(days!);
  if (hour === '*') {
    const isHourly = onDays?.repeat === 'daily';
    if (isHourly) return { ...onDays, repeat: 'hourly', time: `00:${pad(minute)}` };
    return null;
  }
  if (onDays === null || Number(hour) > 23) return null;
  return { ...onDays, time: `${pad(hour)}:${pad(minute)}` };
}

/** Reads the days of the week of a cron expression in upper case. */
function readDays(days: string): Omit<Repeat, 'time'> | null {
  const { weekday } = defaultRepeat;
  if (days === '*') return { repeat: 'daily', weekday };
  if (days === '1-5' || days === 'MON-FRI') return { repeat: 'weekdays', weekday };
  const day = weekdays.findIndex(
    (name, number) => days === String(number) || days === name.slice(0, 3).toUpperCase(),
  );
  if (day >= 0) return { repeat: 'weekly', weekday: day };
  // Cron has two numbers for Sunday.
  return days === '7' ? { repeat: 'weekly', weekday: 0 } : null;
}

/** Returns the cron expression of a repeat. */
export function writeCron({ repeat, time, weekday }: Repeat): string {
  const [hour = 0, minute = 0] = time.split(':').map(Number);
  if (repeat === 'hourly') return `${minute} * * * *`;
  const days = { daily: '*', weekdays: '1-5', weekly: String(weekday) }[repeat];
  return `${minute} ${hour} * * ${days}`;
}

/**
 * Describes a cron expression: "Every day at 08:00", "Every 5 minutes"; other expressions are
 * returned unchanged.
 */
export function cronText(cron: string): string {
  const [, minutes] = /^\*\/(\d+) \* \* \* \*$/.exec(cron.trim()) ?? [];
  // Other steps leave a shorter interval at the end of the hour.
  if (minutes !== undefined && Number(minutes) > 1 && 60 % Number(minutes) === 0)
    return `Every ${minutes} minutes`;
  const read = readCron(cron);
  if (read === null) return cron;
  const { repeat, time, weekday } = read;
  if (repeat === 'hourly') return `${repeats.hourly} at minute ${Number(time.slice(3))}`;
  return `${repeat === 'weekly' ? `Every ${weekdays[weekday]}` : repeats[repeat]} at ${time}`;
}
