import { count } from '../fields.ts';

/**
 * Returns the number of pieces sold from the site's number and texts. If the number is 0 or missing, the
 * first text with a number counts, because newer responses have 0 beside "30k+". Null if both are missing: a
 * hidden count is not 0.
 */
export function soldCount(value: unknown, ...texts: unknown[]): number | null {
  const counts = [value, ...texts].map(count).filter((found) => found !== null && found >= 0);
  return counts.find((found) => found !== 0) ?? counts[0] ?? null;
}
