const second = 1_000;
const minute = 60 * second;
const hour = 60 * minute;

/** How long is waited after a try, by how many there were: over a day, most of them in the first hour. */
const waits = [
  5 * second,
  30 * second,
  2 * minute,
  10 * minute,
  30 * minute,
  hour,
  2 * hour,
  4 * hour,
  8 * hour,
  8 * hour,
];

/** Tries of a message at most. */
export const mostTries = waits.length + 1;

/** Part of a wait that chance adds or takes, so that what failed together does not come again together. */
const spread = 0.1;

/**
 * Milliseconds from a message's `tries`-th try, from 1, to the next; null when that was the last. A wait that the
 * receiver asked for (Retry-After) makes it longer, never shorter. `chance`: at least 0, below 1.
 */
export function waitAfter(tries: number, chance: number, askedMs = 0): number | null {
  const usual = waits[tries - 1];
  if (usual === undefined) return null;
  return Math.round(Math.max(usual * (1 - spread + 2 * spread * chance), askedMs * (1 + spread * chance)));
}
