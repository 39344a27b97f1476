/**
 * Time that records are kept, in milliseconds; null: without limit. Jobs and results count from the end of the job,
 * observations from the one that followed.
 */
export type Retention = Record<
  'resultsMs' | 'jobsMs' | 'deliveriesMs' | 'auditLogMs' | 'historyMs',
  number | null
>;

const dayMs = 86_400_000;
const maxDays = 36_500;

/** Parses a number of days, 1 to 36,500, or "off", to milliseconds or null. */
export function parseRetentionDays(text: string): number | null {
  if (text === 'off') return null;
  const days = Number(text);
  if (!/^\d+$/.test(text) || days < 1 || days > maxDays)
    throw new Error(`expected a number of days from 1 to ${maxDays}, or off`);
  return days * dayMs;
}
