/** Maximum wait accepted from a Retry-After header, in milliseconds. */
export const maxRetryAfterMs = 15 * 60_000;

/**
 * Returns the wait that a response's `retry-after` header asks for, in milliseconds, up to 15
 * minutes. The header is a number of seconds or an HTTP date. Returns undefined if it is missing or
 * malformed.
 */
export function parseRetryAfter(
  headers: Readonly<Record<string, string>>,
  now: number,
): number | undefined {
  const text = headers['retry-after']?.trim();
  if (text === undefined || text === '') return undefined;
  const wait = /^\d+$/.test(text) ? Number(text) * 1000 : Date.parse(text) - now;
  if (Number.isNaN(wait)) return undefined;
  return Math.min(Math.max(wait, 0), maxRetryAfterMs);
}
