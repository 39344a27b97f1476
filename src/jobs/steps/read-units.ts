import { linkSignals } from '../../base/abort.ts';
import type { Batch } from '../../store/batches.ts';
import type { Job } from '../../store/documents.ts';
import type { JobContext } from '../context.ts';
import type { BatchWriter } from './batch-writer.ts';
import {
  type DeferredUnit,
  maxInPlaceWaitMs,
  maxWaitMs,
  type ReadUnits,
  readUnit,
  waitingSince,
  waitOf,
} from './read-unit.ts';

/** Interval at which finished units of a batch are written, in milliseconds. */
const flushMs = 2_000;

/**
 * Reads the batch's outstanding units concurrently. Writes finished units every two seconds, so that a crash
 * costs little, and returns the wait of the deferred ones. Returns null if the claim was lost. If one of the
 * service's own engines fails, stops the other reads and writes the finished units before it throws.
 */
export async function readUnits(
  context: JobContext,
  job: Job,
  batch: Batch,
  writer: BatchWriter,
  signal: AbortSignal,
): Promise<ReadUnits | null> {
  const { clock } = context;
  const halt = new AbortController();
  // Both signals end with the batch, so nothing has to be released.
  const { signal: reading } = linkSignals(signal, halt.signal);
  let flushed = clock.now();
  let hasClaim = true;
  let left = 0;
  let done = 0;
  /**
   * Start of the wait for origins; reset by each successful unit, and after an outage of the service's
   * engines.
   */
  let since = waitingSince(batch.wait, clock.now());
  const tries = new Map(Object.entries(batch.wait?.tries ?? {}));

  const flush = async () => {
    flushed = clock.now();
    hasClaim = await writer.flush();
  };
  const readNext = async (outstanding: Iterable<number>, later: Map<number, DeferredUnit>) => {
    for (const index of outstanding) {
      const budget = { tries: tries.get(`${index}`) ?? 0, until: since + maxWaitMs[job.lane] };
      const result = await readUnit(context, job, batch, index, reading, budget);
      if ('until' in result) {
        later.set(index, result);
        tries.set(`${index}`, result.tries);
        continue;
      }
      if (result.outcome.status === 'SUCCESS') since = clock.now();
      writer.add(index, result);
      done += 1;
      // The end of the batch writes the last units.
      if (done < left && (clock.now() - flushed > flushMs || writer.isFull)) await flush();
      if (!hasClaim) return;
    }
  };
  for (;;) {
    const indexes = [...batch.units.keys()].filter((index) => !writer.has(index));
    const outstanding = indexes.values();
    left = indexes.length;
    done = 0;
    const later = new Map<number, DeferredUnit>();
    const readers = Math.min(context.pages.concurrency(batch.market, batch.region), batch.units.length);
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
    const ms = wait.until - clock.now();
    if (ms > maxInPlaceWaitMs) return { wait };
    await clock.sleep(ms, signal);
  }
}
