/** Longest wait that an answer's Retry-After is believed for, in milliseconds. */
export const longestRetryAfterMs = 15 * 60_000;

/**
 * Milliseconds that an answer asks to wait, from its `retry-after` header: a number of seconds or an
 * HTTP date, at most 15 minutes. Undefined when there is none, or none that can be read.
 */
export function retryAfterMs(headers: Readonly<Record<string, string>>, now: number): number | undefined {
  const text = headers['retry-after']?.trim();
  if (text === undefined || text === '') return undefined;
  const wait = /^\d+$/.test(text) ? Number(text) * 1000 : Date.parse(text) - now;
  if (Number.isNaN(wait)) return undefined;
  return Math.min(Math.max(wait, 0), longestRetryAfterMs);
}
