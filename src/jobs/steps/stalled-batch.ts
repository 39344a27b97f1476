import { type ConcurrencyLimit, createConcurrencyLimit } from '../../fetch/concurrency-limit.ts';
import type { Batch, Outcome } from '../../store/batches.ts';
import type { JobContext } from '../context.ts';

/*
 * A page that stalls its worker process costs two deaths, because the process reports the unit when
 * it ends: one while other batches are read, and one while its unit is read alone. A page that
 * kills the process costs at most four: one while other batches are read, one while its batch is
 * the only stalled one, and two while its unit is. A page that kills the service costs eight.
 */

/** Claims without progress after which a worker reads no other stalled batch at the same time. */
const maxSharedClaims = 1;
/** Claims without progress after which a batch's units are read one at a time. */
const maxExclusiveClaims = 2;
/**
 * Isolated starts that ended in a failure or a death of the worker, after which a unit is
 * abandoned.
 */
const maxFailedStarts = 2;
/**
 * Isolated starts of a unit without an observed end, after which it is abandoned. Above the limit
 * of failures, because such starts also end when the whole service is killed from outside. Limited
 * nevertheless: without worker processes, a page that kills its reader kills the service.
 */
const maxUnseenStarts = 6;
/** Abandoned units of a batch after which its other units are abandoned too. */
const maxAbandoned = 3;
/** Claims without progress after which all unread units of a batch are abandoned. */
const maxStalledClaims = 14;

/**
 * How a batch is read. `shared`: its units concurrently, alongside other batches. `exclusive`: its
 * units concurrently, while the worker reads no other stalled batch. `isolated`: its units one at a
 * time.
 */
export type ReadMode = 'shared' | 'exclusive' | 'isolated';

/** Returns how to read a batch, given how earlier claims of it ended. */
export function readModeOf({ stalledClaims, isolated }: Batch): ReadMode {
  if (isolated !== null || stalledClaims > maxExclusiveClaims) return 'isolated';
  return stalledClaims > maxSharedClaims ? 'exclusive' : 'shared';
}

/**
 * Returns true if an earlier claim of a batch ended without progress: a page of it may end its
 * reader.
 */
export function isSuspect(batch: Batch): boolean {
  return readModeOf(batch) !== 'shared';
}

/** Limits of the stalled batches or units that are read at a time, by worker. */
const limits = new WeakMap<object, ConcurrencyLimit>();

/**
 * Returns the limit of one stalled batch or unit at a time in a worker: with two, a crash could be
 * the fault of either.
 */
export function stalledLimitOf(context: JobContext): ConcurrencyLimit {
  const limit = limits.get(context) ?? createConcurrencyLimit(1);
  limits.set(context, limit);
  return limit;
}

/** Returns the outcome of a unit that must not be read again, or null if it may be read. */
export function abandonedOutcome(
  { outcomes, stalledClaims, isolated }: Batch,
  index: number,
): Outcome | null {
  const { starts = 0, failures = 0 } = isolated?.index === index ? isolated : {};
  if (failures >= maxFailedStarts || starts >= maxUnseenStarts) {
    const all = starts + failures;
    return workAbandoned(
      `the unit was started ${all} times on its own, and its worker crashed or failed each time`,
    );
  }
  const abandonedCount = Object.values(outcomes).filter(isAbandoned).length;
  if (abandonedCount >= maxAbandoned)
    return workAbandoned(`${abandonedCount} other units of the batch crashed their workers`);
  if (stalledClaims > maxStalledClaims) {
    return workAbandoned(
      `the batch was claimed ${maxStalledClaims} consecutive times without progress`,
    );
  }
  return null;
}

const workAbandoned = (message: string): Outcome => ({
  status: 'FAILED',
  code: 'work_abandoned',
  message,
});

const isAbandoned = (outcome: Outcome): boolean =>
  outcome.status === 'FAILED' && outcome.code === 'work_abandoned';
