import type { PageChange } from './changes.ts';

/** Time for which the values of a subject with periodic changes hold, in milliseconds. */
export const periodMs = 10_000;

/**
 * Periods until the values repeat. A prime that divides no usual interval of a schedule, so that
 * runs each minute, hour, day, and week read different prices.
 */
const cycle = 11;

/** Changes by the last three digits of a request's subject, and the number of the period. */
const changes: Readonly<Record<string, (period: number) => PageChange>> = {
  920: (period) => ({ priceFactor: 1 - period * 0.06 }),
  921: (period) => ({ stock: period % 2 === 0 ? 5 + period : 0 }),
  922: (period) => ({ isRemoved: period % 2 === 1 }),
};

/**
 * Returns the change of every item in the response to a request about this subject, at a time in
 * milliseconds since 1970. Undefined for subjects whose values are always the same.
 */
export function periodicChange(subject: string | undefined, at: number): PageChange | undefined {
  const suffix = subject?.slice(-3);
  if (suffix === undefined || !Object.hasOwn(changes, suffix)) return undefined;
  return changes[suffix]!(Math.floor(at / periodMs) % cycle);
}
