import type { BatchWait, Lane } from '../../store/documents.ts';

/** A unit that cannot be read now, and the time of its next attempt. */
export interface DeferredUnit {
  until: number;
  /** Reason shown to the owner: "mkta/id: blocked (page_blocked)". */
  reason: string;
  /** Attempts so far. */
  tries: number;
}

/** Result of reading a batch: the wait of its remaining units, or null if every unit has an outcome. */
export interface ReadUnits {
  wait: BatchWait | null;
}

/** Attempts of a unit so far, and how long it may be deferred. */
export interface RetryBudget {
  /** Attempts of the unit before this claim of its batch. */
  tries: number;
  /** Time after which the unit fails instead of waiting longer. */
  until: number;
}

/** Maximum wait inside a claim in milliseconds; for a longer one the batch is released. */
export const maxInPlaceWaitMs = 10_000;

/**
 * Maximum time that a batch is deferred while none of its units can be read, in milliseconds; then they fail. Shorter
 * for single pages, whose callers wait for them.
 */
export const maxWaitMs: Readonly<Record<Lane, number>> = { single: 10 * 60_000, bulk: 60 * 60_000 };

/** Returns the start of a batch's wait for its origins: now, unless it last waited for an origin. */
export function waitingSince(waited: BatchWait | null, now: number): number {
  return waited !== null && waited.failures === 0 ? waited.since : now;
}

/** Returns the wait of a batch whose units are deferred: until the last of them may be retried. */
export function waitOf(later: ReadonlyMap<number, DeferredUnit>, since: number): BatchWait {
  const { until, reason } = [...later.values()].reduce((one, other) =>
    other.until > one.until ? other : one,
  );
  const tries = Object.fromEntries([...later].map(([index, unit]) => [index, unit.tries]));
  return { since, until, reason, tries, failures: 0 };
}
