import { linkSignals } from '../../base/abort.ts';
import { type ConcurrencyLimit, createConcurrencyLimit } from '../../fetch/concurrency-limit.ts';
import type { Batch, BatchWait, IsolatedUnit, Outcome } from '../../store/batches.ts';
import { updateClaim } from '../../store/claims.ts';
import type { Job, Lane } from '../../store/documents.ts';
import type { JobContext } from '../context.ts';
import { type BatchWriter, countsAsStalled } from './batch-writer.ts';
import { type DeferredUnit, maxInPlaceWaitMs, readUnit, type UnitResult } from './read-unit.ts';

/**
 * Result of reading a batch: the wait of its remaining units, or null if every unit has an outcome.
 */
export interface ReadUnits {
  wait: BatchWait | null;
}

/** Interval at which finished units of a batch are written, in milliseconds. */
const flushMs = 2_000;

/**
 * Maximum time that a batch is deferred while none of its units can be read, in milliseconds; then
 * they fail. Shorter for single pages, whose callers wait for them.
 */
const maxWaitMs: Readonly<Record<Lane, number>> = { single: 10 * 60_000, bulk: 60 * 60_000 };

/**
 * Returns true if an earlier claim of a batch ended without progress: a page of it may end its
 * reader.
 */
export function isSuspect({ stalledClaims, isolated }: Batch): boolean {
  return stalledClaims > maxSharedClaims || isolated !== null;
}

/** Returns the function that reads a batch, given how earlier claims of it ended. */
export function readerOf(batch: Batch): typeof readExclusive {
  if (!isSuspect(batch)) return readUnits;
  return batch.stalledClaims > maxExclusiveClaims || batch.isolated !== null
    ? readIsolated
    : readExclusive;
}

/**
 * Reads the batch's outstanding units concurrently. Writes finished units every two seconds, so
 * that a crash costs little, and returns the wait of the deferred ones. Returns null if the claim
 * was lost. If one of the service's own engines fails, stops the other reads and writes the
 * finished units before it throws.
 */
async function readUnits(
  context: JobContext,
  job: Job,
  batch: Batch,
  writer: BatchWriter,
  signal: AbortSignal,
): Promise<ReadUnits | null> {
  const { clock } = context;
  const halt = new AbortController();
  // Both signals end with the batch, so nothing has to be released.
  const { signal: readSignal } = linkSignals(signal, halt.signal);
  let flushed = clock.steady();
  let hasClaim = true;
  let left = 0;
  let done = 0;
  /**
   * Start of the wait for origins; reset by each successful unit, and after an outage of the
   * service's engines.
   */
  let since = waitingSince(batch.wait, clock.steady());
  const tries = new Map(Object.entries(batch.wait?.tries ?? {}));

  const flush = async () => {
    flushed = clock.steady();
    hasClaim = await writer.flush();
  };
  const readNext = async (outstanding: Iterable<number>, later: Map<number, DeferredUnit>) => {
    for (const index of outstanding) {
      const budget = { tries: tries.get(`${index}`) ?? 0, until: since + maxWaitMs[job.lane] };
      const result = await readUnit(context, job, batch, index, readSignal, budget);
      if ('until' in result) {
        later.set(index, result);
        tries.set(`${index}`, result.tries);
        continue;
      }
      if (result.outcome.status === 'SUCCESS') since = clock.steady();
      writer.add(index, result);
      done += 1;
      // The end of the batch writes the last units.
      if (done < left && (clock.steady() - flushed > flushMs || writer.isFull)) await flush();
      if (!hasClaim) return;
    }
  };
  for (;;) {
    const indexes = [...batch.units.keys()].filter((index) => !writer.has(index));
    const outstanding = indexes.values();
    left = indexes.length;
    done = 0;
    const later = new Map<number, DeferredUnit>();
    const readers = Math.min(
      context.pages.concurrency(batch.market, batch.region),
      batch.units.length,
    );
    const read = () => readNext(outstanding, later).catch((error) => halt.abort(error));
    await Promise.all(Array.from({ length: readers }, read));
    if (!hasClaim) return null;
    if (halt.signal.aborted) {
      // Finished units keep their outcomes.
      await flush();
      throw halt.signal.reason;
    }
    if (later.size === 0) return { wait: null };
    const wait = waitOf(later, since);
    const ms = wait.until - clock.steady();
    if (ms > maxInPlaceWaitMs) return { wait };
    await clock.sleep(ms, signal);
  }
}

/**
 * Returns the start of a batch's wait for its origins: now, unless it last waited for an origin.
 */
function waitingSince(previousWait: BatchWait | null, now: number): number {
  return previousWait !== null && previousWait.failures === 0 ? previousWait.since : now;
}

/** Returns the wait of a batch whose units are deferred: until the last of them may be retried. */
export function waitOf(later: ReadonlyMap<number, DeferredUnit>, since: number): BatchWait {
  const { until, reason } = [...later.values()].reduce((one, other) =>
    other.until > one.until ? other : one,
  );
  const tries = Object.fromEntries([...later].map(([index, unit]) => [index, unit.tries]));
  return { since, until, reason, tries, failures: 0 };
}

/*
 * A page that stalls its worker process costs two deaths, because the process reports the unit when
 * it ends: one while other batches are read, and one while its unit is read alone. A page that
 * kills the process costs at most four: one while other batches are read, one while its batch is
 * the only stalled one, and two while its unit is. A page that kills the service costs eight.
 */

/** Claims without progress after which a worker reads no other stalled batch meanwhile. */
const maxSharedClaims = 1;
/** Claims without progress after which a batch's units are read one at a time. */
const maxExclusiveClaims = 2;
/**
 * Isolated starts that ended in a failure or a death of the worker, after which a unit is
 * abandoned.
 */
const maxFailedStarts = 2;
/**
 * Isolated starts of a unit of which nobody saw the end, after which it is abandoned. More than
 * failures, because they end when the whole service is killed from outside; not all claims, because
 * without worker processes a page that kills its reader kills the service.
 */
const maxUnseenStarts = 6;
/** Abandoned units of a batch after which its other units are abandoned too. */
const maxAbandoned = 3;
/** Claims without progress after which all unread units of a batch are abandoned. */
const maxStalledClaims = 14;

/**
 * Limit of one stalled batch or unit at a time per worker: with two, a crash could be the fault of
 * either.
 */
const limits = new WeakMap<object, ConcurrencyLimit>();

function limitOf(context: JobContext): ConcurrencyLimit {
  const limit = limits.get(context) ?? createConcurrencyLimit(1);
  limits.set(context, limit);
  return limit;
}

/**
 * Reads a batch of which a claim ended without progress while this worker reads no other stalled
 * one, so that the next death tells which batch is the cause. Returns `busy` while the worker reads
 * another: waiting for it would count as a claim without progress if that one ends the worker.
 */
async function readExclusive(
  context: JobContext,
  job: Job,
  batch: Batch,
  writer: BatchWriter,
  signal: AbortSignal,
): Promise<ReadUnits | 'busy' | null> {
  const limit = limitOf(context);
  if (limit.inUse > 0) return 'busy';
  const release = await limit.acquire(signal);
  try {
    return await readUnits(context, job, batch, writer, signal);
  } finally {
    release();
  }
}

/** Returns the outcome of an abandoned unit, or null if it may still be read. */
function abandoned({ outcomes, stalledClaims, isolated }: Batch, index: number): Outcome | null {
  const fail = (message: string): Outcome => ({
    status: 'FAILED',
    code: 'work_abandoned',
    message,
  });
  const { starts = 0, failures = 0 } = isolated?.index === index ? isolated : {};
  if (failures >= maxFailedStarts || starts >= maxUnseenStarts) {
    const all = starts + failures;
    return fail(
      `the unit was started ${all} times on its own, and its worker crashed or failed each time`,
    );
  }
  const otherOutcomes = Object.values(outcomes).filter(
    (outcome) => outcome.status === 'FAILED' && outcome.code === 'work_abandoned',
  ).length;
  if (otherOutcomes >= maxAbandoned)
    return fail(`${otherOutcomes} other units of the batch crashed their workers`);
  if (stalledClaims > maxStalledClaims) {
    return fail(`the batch was claimed ${maxStalledClaims} consecutive times without progress`);
  }
  return null;
}

/**
 * Reads the outstanding units of a stalled batch one at a time, and records each outcome
 * immediately. Each start is recorded first, so that only the unit that crashes its worker fails,
 * with `work_abandoned`. Returns null if the claim was lost.
 */
export async function readIsolated(
  context: JobContext,
  job: Job,
  batch: Batch,
  writer: BatchWriter,
  signal: AbortSignal,
): Promise<ReadUnits | null> {
  const { clock, log } = context;
  const later = new Map<number, DeferredUnit>();
  let since = waitingSince(batch.wait, clock.steady());
  log.warn({ batchId: batch.id, stalledClaims: batch.stalledClaims }, 'stalled batch claimed');
  // A record of the next unit would replace that of the isolated one.
  const suspects = new Set([
    ...(batch.isolated ? [batch.isolated.index] : []),
    ...batch.units.keys(),
  ]);
  for (const index of suspects) {
    if (batch.outcomes[index]) continue;
    const budget = { tries: batch.wait?.tries[index] ?? 0, until: since + maxWaitMs[job.lane] };
    const outcome = abandoned(batch, index);
    if (outcome) log.error({ jobId: job.id, batchId: batch.id, index }, 'unit abandoned');
    const result = outcome
      ? { outcome }
      : await readAlone(context, batch, index, signal, () =>
          readUnit(context, job, batch, index, signal, budget),
        );
    if (result === null) return null;
    if ('until' in result) {
      later.set(index, result);
      continue;
    }
    if (result.outcome.status === 'SUCCESS') since = clock.steady();
    writer.add(index, result);
    if (!(await writer.flush())) return null;
  }
  return { wait: later.size === 0 ? null : waitOf(later, since) };
}

/**
 * Reads one unit while this worker reads no other stalled unit. Returns null if the claim was lost.
 */
async function readAlone(
  context: JobContext,
  batch: Batch,
  index: number,
  signal: AbortSignal,
  read: () => Promise<UnitResult | DeferredUnit>,
): Promise<UnitResult | DeferredUnit | null> {
  const { store } = context;
  const release = await limitOf(context).acquire(signal);
  try {
    const earlier = batch.isolated?.index === index ? batch.isolated : { index, starts: 0 };
    const keep = async (isolated: IsolatedUnit) => {
      batch.isolated = isolated;
      return updateClaim(store, batch, { isolated });
    };
    if (!(await keep({ ...earlier, starts: earlier.starts + 1 }))) return null;
    try {
      const result = await read();
      // A deferred unit did not crash its worker.
      if ('until' in result) await keep(earlier);
      return result;
    } catch (error) {
      if (signal.aborted || !countsAsStalled(error)) await keep(earlier);
      throw error;
    }
  } finally {
    release();
  }
}
