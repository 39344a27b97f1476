const local = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'medium' });
const relative = new Intl.RelativeTimeFormat('en', { numeric: 'auto' });

/** Date and time in the reader's zone. */
export const localText = (date: Date): string => local.format(date);

/** Date and time in UTC: "2030-01-07 04:00:00 UTC". */
export const utcText = (date: Date): string => `${date.toISOString().slice(0, 19).replace('T', ' ')} UTC`;

const units: [Intl.RelativeTimeFormatUnit, number][] = [
  ['day', 86_400],
  ['hour', 3_600],
  ['minute', 60],
];

/** How long ago, or how long until: "5 minutes ago", "in 3 hours"; "just now" and "in a moment" within ten seconds. */
export function agoText(date: Date, nowMs: number): string {
  const seconds = Math.round((date.getTime() - nowMs) / 1000);
  for (const [unit, size] of units) {
    if (Math.abs(seconds) >= size) return relative.format(Math.trunc(seconds / size), unit);
  }
  if (Math.abs(seconds) >= 10) return relative.format(seconds, 'second');
  // Clocks differ by a second.
  return seconds > 1 ? 'in a moment' : 'just now';
}

/** A length of time in two units at most: "1 h 5 min", "42 s". */
export function lengthText(ms: number): string {
  const seconds = Math.max(0, Math.round(ms / 1000));
  if (seconds < 60) return `${seconds} s`;
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60) return seconds % 60 === 0 ? `${minutes} min` : `${minutes} min ${seconds % 60} s`;
  const hours = Math.floor(minutes / 60);
  if (hours < 48) return minutes % 60 === 0 ? `${hours} h` : `${hours} h ${minutes % 60} min`;
  return `${Math.floor(hours / 24)} days`;
}
