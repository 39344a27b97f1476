import type { Batch, Job, Outcome } from '../store/documents.ts';
import type { BatchWait } from '../store/politeness.ts';
import type { Payload } from '../store/store.ts';
import type { JobContext } from './context.ts';
import { readUnit } from './read-unit.ts';
import { inPlaceMs, type Later, longestWaitMs, waitOf } from './waiting.ts';

/** How often finished units of a batch under way are written. */
const flushMs = 2_000;

/** What the units of a batch came to since the last write, and what the others wait for. */
export interface Finished {
  outcomes: Record<number, Outcome>;
  payloads: Payload[];
  wait: BatchWait | null;
}

/**
 * Reads the batch's outstanding units, a few at once. What is finished is written every so often, so
 * that a crash costs little; the rest is given back, with what is left to wait for. Null when the claim
 * was lost. When one of our own engines fails, the others stop and what is finished is written.
 */
export async function readUnits(
  context: JobContext,
  job: Job,
  batch: Batch,
  waited: BatchWait | null,
  signal: AbortSignal,
): Promise<Finished | null> {
  const { clock } = context;
  const halt = new AbortController();
  const reading = AbortSignal.any([signal, halt.signal]);
  let finished: Finished = { outcomes: {}, payloads: [], wait: null };
  let flushed = clock.now();
  let ours = true;
  /** When the waiting for origins began; reset by every unit that could be read, and after an outage of ours. */
  let since = waited && waited.failures === 0 ? waited.since : clock.now();
  const tries = new Map(Object.entries(waited?.tries ?? {}));

  const flush = async () => {
    const part = finished;
    finished = { outcomes: {}, payloads: [], wait: null };
    flushed = clock.now();
    try {
      ours = await record(context, batch, part);
    } catch (error) {
      // Written with the next ones.
      Object.assign(finished.outcomes, part.outcomes);
      finished.payloads.push(...part.payloads);
      throw error;
    }
  };
  const readNext = async (outstanding: Iterable<number>, later: Map<number, Later>) => {
    for (const index of outstanding) {
      const patience = { tries: tries.get(`${index}`) ?? 0, until: since + longestWaitMs[job.lane] };
      const result = await readUnit(context, job, batch, index, reading, patience);
      if ('until' in result) {
        later.set(index, result);
        tries.set(`${index}`, result.tries);
        continue;
      }
      const { outcome, payload } = result;
      if (outcome.status === 'SUCCESS') since = clock.now();
      finished.outcomes[index] = outcome;
      if (payload) finished.payloads.push({ index, body: payload });
      if (clock.now() - flushed > flushMs) await flush();
      if (!ours) return;
    }
  };
  for (;;) {
    const isLeft = (index: number) => !batch.outcomes[index] && !finished.outcomes[index];
    const outstanding = batch.units.keys().filter(isLeft);
    const later = new Map<number, Later>();
    const readers = Math.min(context.pages.concurrency(batch.market), batch.units.length);
    const read = () => readNext(outstanding, later).catch((error) => halt.abort(error));
    await Promise.all(Array.from({ length: readers }, read));
    if (!ours) return null;
    if (halt.signal.aborted) {
      // The units that are done keep their outcomes.
      await flush();
      throw halt.signal.reason;
    }
    if (later.size === 0) return finished;
    const wait = waitOf(batch, later, since);
    const ms = wait.until - clock.now();
    if (ms > inPlaceMs) return { ...finished, wait };
    await clock.sleep(ms, signal);
  }
}

/** Writes outcomes of a batch under way; false when the claim was lost. */
export async function record(
  { store }: JobContext,
  batch: Batch,
  { outcomes, payloads }: Pick<Finished, 'outcomes' | 'payloads'>,
): Promise<boolean> {
  if (Object.keys(outcomes).length === 0) return true;
  if (!(await store.recordOutcomes(batch.id, batch.attempt, outcomes, payloads))) return false;
  Object.assign(batch.outcomes, outcomes);
  return true;
}
