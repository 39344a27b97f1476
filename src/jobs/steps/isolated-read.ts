import { type ConcurrencyLimit, createConcurrencyLimit } from '../../fetch/concurrency-limit.ts';
import type { Batch, Outcome } from '../../store/batches.ts';
import type { Job } from '../../store/documents.ts';
import type { JobContext } from '../context.ts';
import type { BatchWriter } from './batch-writer.ts';
import {
  type DeferredUnit,
  maxWaitMs,
  type ReadUnits,
  readUnit,
  type UnitResult,
  waitingSince,
  waitOf,
} from './read-unit.ts';
import { readUnits } from './read-units.ts';
import { countsAsStalled } from './release.ts';

/*
 * A page that kills its worker costs at most four deaths: one while other batches are read, one while its
 * batch is the only stalled one, and two while its unit is.
 */

/** Claims without progress after which a worker reads no other stalled batch meanwhile. */
const maxSharedClaims = 1;
/** Claims without progress after which a batch's units are read one at a time. */
const maxExclusiveClaims = 2;
/** Maximum isolated starts of a unit that may end without an outcome before the unit is abandoned. */
const maxIsolatedStarts = 2;
/** Abandoned units of a batch after which its other units are abandoned too. */
const maxAbandoned = 3;
/** Claims without progress after which all unread units of a batch are abandoned. */
const maxStalledClaims = 14;

/**
 * Limit of one stalled batch or unit at a time per worker: with two, a crash could be the fault of either.
 */
const limits = new WeakMap<object, ConcurrencyLimit>();

function limitOf(context: JobContext): ConcurrencyLimit {
  const limit = limits.get(context) ?? createConcurrencyLimit(1);
  limits.set(context, limit);
  return limit;
}

/** Returns the function that reads a batch, given how earlier claims of it ended. */
export function readerOf({ stalledClaims, isolated }: Batch): typeof readExclusive {
  if (stalledClaims > maxExclusiveClaims || isolated !== null) return readIsolated;
  return stalledClaims > maxSharedClaims ? readExclusive : readUnits;
}

/**
 * Reads a batch of which a claim ended without progress while this worker reads no other stalled one, so that
 * the next death tells which batch is the cause. Returns `busy` while the worker reads another: waiting for
 * it would count as a claim without progress if that one ends the worker.
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
  const fail = (message: string): Outcome => ({ status: 'FAILED', code: 'work_abandoned', message });
  if (isolated?.index === index && isolated.starts >= maxIsolatedStarts) {
    return fail(
      `the unit was started ${isolated.starts} times on its own, and its worker crashed or failed each time`,
    );
  }
  const others = Object.values(outcomes).filter(
    (outcome) => outcome.status === 'FAILED' && outcome.code === 'work_abandoned',
  ).length;
  if (others >= maxAbandoned) return fail(`${others} other units of the batch crashed their workers`);
  if (stalledClaims > maxStalledClaims) {
    return fail(`the batch was claimed ${maxStalledClaims} consecutive times without progress`);
  }
  return null;
}

/**
 * Reads the outstanding units of a stalled batch one at a time, and records each outcome immediately. Each
 * start is recorded first, so that only the unit that crashes its worker fails, with `work_abandoned`.
 * Returns null if the claim was lost.
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
  let since = waitingSince(batch.wait, clock.now());
  log.warn({ batchId: batch.id, stalledClaims: batch.stalledClaims }, 'stalled batch claimed');
  for (const index of batch.units.keys()) {
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
    if (result.outcome.status === 'SUCCESS') since = clock.now();
    writer.add(index, result);
    if (!(await writer.flush())) return null;
  }
  return { wait: later.size === 0 ? null : waitOf(later, since) };
}

/** Reads one unit while this worker reads no other stalled unit. Returns null if the claim was lost. */
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
    const earlier = batch.isolated?.index === index ? batch.isolated.starts : 0;
    const keep = async (starts: number) => {
      batch.isolated = { index, starts };
      return store.batches.update(batch.id, batch.attempt, { isolated: batch.isolated });
    };
    if (!(await keep(earlier + 1))) return null;
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
