import { linkSignals } from '../../base/abort.ts';
import type { Clock } from '../../base/clock.ts';
import { type ConcurrencyLimit, createConcurrencyLimit } from '../../fetch/concurrency-limit.ts';
import type { Batch, BatchWait, IsolatedUnit, Outcome } from '../../store/batches.ts';
import { updateClaim } from '../../store/claims.ts';
import type { Job, Lane } from '../../store/documents.ts';
import type { JobContext } from '../context.ts';
import { type BatchWriter, countsAsStalled } from './batch-writer.ts';
import { isDeferred, maxInPlaceWaitMs, type RetryBudget, readUnit } from './read-unit.ts';
import type { DeferredUnit, UnitResult } from './unit-result.ts';

/** How the reading of a batch ended. */
export type BatchReadResult =
  /** Every unit has an outcome. */
  | { kind: 'complete' }
  /** The remaining units cannot be read before the end of a wait. */
  | { kind: 'waiting'; wait: BatchWait }
  /** Nothing was read, because the worker reads another stalled batch. */
  | { kind: 'busy' }
  /** The claim was lost. */
  | { kind: 'lost' };

/** Reads the outstanding units of a claimed batch, and adds their results to the writer. */
export function readBatchUnits(
  context: JobContext,
  job: Job,
  batch: Batch,
  writer: BatchWriter,
  signal: AbortSignal,
): Promise<BatchReadResult> {
  switch (readModeOf(batch)) {
    case 'shared':
      return readConcurrently(context, job, batch, writer, signal);
    case 'exclusive':
      return readExclusive(context, job, batch, writer, signal);
    case 'isolated':
      return readIsolated(context, job, batch, writer, signal);
  }
}

/** Interval at which finished units of a batch are written, in milliseconds. */
const flushMs = 2_000;

/**
 * Reads the batch's outstanding units concurrently. Writes finished units every two seconds, so
 * that a crash costs little, and returns the wait of the deferred ones. If one of the service's own
 * engines fails, stops the other reads and writes the finished units before it throws.
 */
async function readConcurrently(
  context: JobContext,
  job: Job,
  batch: Batch,
  writer: BatchWriter,
  signal: AbortSignal,
): Promise<BatchReadResult> {
  const { clock } = context;
  const halt = new AbortController();
  // Both signals end with the batch, so nothing has to be released.
  const { signal: readSignal } = linkSignals(signal, halt.signal);
  const waits = createUnitWaits(clock, job, batch);
  let flushedAt = clock.steady();
  let hasClaim = true;
  let unfinished = 0;

  const flush = async () => {
    flushedAt = clock.steady();
    hasClaim = await writer.flush();
  };
  const isFlushDue = () => clock.steady() - flushedAt > flushMs || writer.isFull;
  const readNext = async (outstanding: Iterable<number>) => {
    for (const index of outstanding) {
      const budget = waits.budgetOf(index);
      const result = await readUnit(context, job, batch, index, readSignal, budget);
      if (isDeferred(result)) {
        waits.defer(index, result);
        continue;
      }
      add(index, result, writer, waits);
      unfinished -= 1;
      // The end of the batch writes the last units.
      if (unfinished > 0 && isFlushDue()) await flush();
      if (!hasClaim) return;
    }
  };
  const readOutstanding = async () => {
    const indexes = [...batch.units.keys()].filter((index) => !writer.has(index));
    unfinished = indexes.length;
    const outstanding = indexes.values();
    const concurrency = context.pages.concurrency(batch.market, batch.region);
    const readers = Math.min(concurrency, batch.units.length);
    const read = () => readNext(outstanding).catch((error) => halt.abort(error));
    await Promise.all(Array.from({ length: readers }, read));
  };
  for (;;) {
    await readOutstanding();
    if (!hasClaim) return { kind: 'lost' };
    if (halt.signal.aborted) {
      // Finished units keep their outcomes.
      await flush();
      throw halt.signal.reason;
    }
    const wait = waits.take();
    if (wait === null) return { kind: 'complete' };
    const ms = wait.until - clock.steady();
    if (ms > maxInPlaceWaitMs) return { kind: 'waiting', wait };
    await clock.sleep(ms, signal);
  }
}

/** Adds a result to the next write. A page that was read ends the wait for its origin. */
function add(index: number, result: UnitResult, writer: BatchWriter, waits: UnitWaits): void {
  if (result.outcome.status === 'SUCCESS') waits.restart();
  writer.add(index, result);
}

/**
 * Reads a batch that had a claim without progress while this worker reads no other such batch, so
 * that the next death identifies the batch that caused it. Returns `busy` while the worker reads
 * another one: waiting would count as a claim without progress if that one ends the worker.
 */
async function readExclusive(
  context: JobContext,
  job: Job,
  batch: Batch,
  writer: BatchWriter,
  signal: AbortSignal,
): Promise<BatchReadResult> {
  const limit = stalledLimitOf(context);
  if (limit.inUse > 0) return { kind: 'busy' };
  const release = await limit.acquire(signal);
  try {
    return await readConcurrently(context, job, batch, writer, signal);
  } finally {
    release();
  }
}

/**
 * Reads the outstanding units of a stalled batch one at a time, and records each outcome
 * immediately. Each start is recorded first, so that only the unit that crashes its worker fails,
 * with `work_abandoned`.
 */
export async function readIsolated(
  context: JobContext,
  job: Job,
  batch: Batch,
  writer: BatchWriter,
  signal: AbortSignal,
): Promise<BatchReadResult> {
  const { clock, log } = context;
  const waits = createUnitWaits(clock, job, batch);
  log.warn({ batchId: batch.id, stalledClaims: batch.stalledClaims }, 'stalled batch claimed');
  for (const index of isolatedFirst(batch)) {
    if (batch.outcomes[index]) continue;
    const outcome = abandonedOutcome(batch, index);
    if (outcome) log.error({ jobId: job.id, batchId: batch.id, index }, 'unit abandoned');
    const read = () => readUnit(context, job, batch, index, signal, waits.budgetOf(index));
    const result = outcome ? { outcome } : await readAlone(context, batch, index, signal, read);
    if (result === null) return { kind: 'lost' };
    if (isDeferred(result)) {
      waits.defer(index, result);
      continue;
    }
    add(index, result, writer, waits);
    if (!(await writer.flush())) return { kind: 'lost' };
  }
  const wait = waits.take();
  return wait === null ? { kind: 'complete' } : { kind: 'waiting', wait };
}

/**
 * Returns the indexes of a batch's units, the isolated one first: a record of another unit would
 * replace its starts.
 */
function isolatedFirst({ isolated, units }: Batch): Iterable<number> {
  const indexes = new Set<number>();
  if (isolated !== null) indexes.add(isolated.index);
  for (const index of units.keys()) indexes.add(index);
  return indexes;
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
  const release = await stalledLimitOf(context).acquire(signal);
  try {
    const earlier = batch.isolated?.index === index ? batch.isolated : { index, starts: 0 };
    const record = async (isolated: IsolatedUnit) => {
      batch.isolated = isolated;
      return updateClaim(store, batch, { isolated });
    };
    if (!(await record({ ...earlier, starts: earlier.starts + 1 }))) return null;
    try {
      const result = await read();
      // A deferred unit did not crash its worker.
      if (isDeferred(result)) await record(earlier);
      return result;
    } catch (error) {
      if (signal.aborted || !countsAsStalled(error)) await record(earlier);
      throw error;
    }
  } finally {
    release();
  }
}

/**
 * Maximum time that a batch is deferred while none of its units can be read, in milliseconds; then
 * they fail. Shorter for single pages, whose callers wait for them.
 */
const maxWaitMs: Readonly<Record<Lane, number>> = { single: 10 * 60_000, bulk: 60 * 60_000 };

/** Units of one claim of a batch that cannot be read now, and how long they may wait. */
interface UnitWaits {
  /** Returns the attempts at a unit so far, and the time until which it may be deferred. */
  budgetOf(index: number): RetryBudget;
  /** Adds a unit that cannot be read now. */
  defer(index: number, unit: DeferredUnit): void;
  /** Starts the maximum wait again, because a unit was read. */
  restart(): void;
  /** Returns the wait of the deferred units, or null if there are none, and forgets them. */
  take(): BatchWait | null;
}

/**
 * Creates the waits of a claimed batch. Its maximum wait continues from an earlier claim that
 * waited for an origin, and starts again after an outage of the service's engines.
 */
function createUnitWaits(clock: Clock, { lane }: Job, { wait }: Batch): UnitWaits {
  const isContinued = wait !== null && wait.failures === 0;
  let since = isContinued ? wait.since : clock.steady();
  const tries = new Map<number, number>();
  for (const [index, count] of Object.entries(wait?.tries ?? {})) tries.set(Number(index), count);
  let deferredUnits = new Map<number, DeferredUnit>();
  return {
    budgetOf: (index) => ({
      tries: tries.get(index) ?? 0,
      until: since + maxWaitMs[lane],
    }),
    defer(index, unit) {
      deferredUnits.set(index, unit);
      tries.set(index, unit.tries);
    },
    restart() {
      since = clock.steady();
    },
    take() {
      if (deferredUnits.size === 0) return null;
      const next = waitOf(deferredUnits, since);
      deferredUnits = new Map();
      return next;
    },
  };
}

/** Returns the wait of a batch whose units are deferred: until the last of them may be retried. */
export function waitOf(units: ReadonlyMap<number, DeferredUnit>, since: number): BatchWait {
  const { until, reason } = [...units.values()].reduce((one, other) =>
    other.until > one.until ? other : one,
  );
  const tries: BatchWait['tries'] = {};
  for (const [index, unit] of units) tries[index] = unit.tries;
  return { since, until, reason, tries, failures: 0 };
}

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
type ReadMode = 'shared' | 'exclusive' | 'isolated';

/** Returns how to read a batch, given how earlier claims of it ended. */
function readModeOf({ stalledClaims, isolated }: Batch): ReadMode {
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
function stalledLimitOf(context: JobContext): ConcurrencyLimit {
  const limit = limits.get(context) ?? createConcurrencyLimit(1);
  limits.set(context, limit);
  return limit;
}

/** Returns the outcome of a unit that must not be read again, or null if it may be read. */
function abandonedOutcome(
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
