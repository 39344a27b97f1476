import { Fault } from '../../contract/fault.ts';
import { tallyRecords } from '../../quality/tally.ts';
import type { Batch, Job, Outcome, Part, StoredFile } from '../../store/documents.ts';
import type { JobContext, StoreUse } from '../context.ts';
import { recordFieldsOf } from '../queries/rows.ts';
import { type RecordContext, readRecords } from '../records.ts';
import { countOutcomes } from '../unit-metrics.ts';
import { backOffMs, storageBackOff } from './back-off.ts';
import { type PartContext, partPath, writePart, writeRecords } from './part.ts';
import type { UnitResult } from './read-unit.ts';
import { countsAsStalled } from './stalled.ts';

/** Dependencies of this module. */
export type BatchWriterContext = Pick<JobContext, 'blobs' | 'clock' | 'log' | 'metrics' | 'random'> &
  StoreUse<'finishBatch' | 'recordOutcomes' | 'setWait'> &
  PartContext &
  RecordContext;

/**
 * Writer of the results of one attempt at a batch. Records are written to the blob store first and count once an
 * outcome refers to them, so a part orphaned by a crash or a late worker is never read.
 */
export interface BatchWriter {
  /** Adds the result of a unit to the next write. */
  add(index: number, result: UnitResult): void;
  /** Returns true if a unit has an outcome, written or not. */
  has(index: number): boolean;
  /** Writes the results added since the last write. Returns false if the claim was lost. */
  flush(): Promise<boolean>;
  /** Writes the final part with all records and completes the batch. Returns false if the claim was lost. */
  finish(): Promise<boolean>;
}

/**
 * Creates the writer of a claimed batch. While the blob store is unavailable the writer keeps the records in memory
 * and retries until `signal` aborts, so pages are not fetched again.
 */
export function createBatchWriter(
  context: BatchWriterContext,
  job: Job,
  batch: Batch,
  signal: AbortSignal,
): BatchWriter {
  const { store, clock } = context;
  const { id, attempt } = batch;
  const fields = recordFieldsOf(context.offers.of(job));
  const records = new Map<number, Uint8Array>();
  let pending: Record<number, Outcome> = {};
  let written = 0;
  const persist = <T>(write: () => Promise<T>) => untilWritten(context, batch, write, signal);
  /** Removes unreferenced parts. The end of the job removes those for which this fails. */
  const discard = (paths: readonly string[]) =>
    paths.length === 0 ? undefined : context.blobs.remove(paths).catch(() => {});

  /** Adds the counts of the records in a part, which are stored in the write that refers to it. */
  const withQuality = (part: Part, from: ReadonlyMap<number, Uint8Array>): Part => {
    const its = Object.keys(part.records).map((index) => from.get(Number(index))!);
    return { ...part, quality: tallyRecords(fields, its) };
  };
  const count = (outcomes: Readonly<Record<number, Outcome>>) => countOutcomes(context, job, outcomes);
  const end = async (part: Part | null, file: StoredFile | null) => {
    if (!(await store.finishBatch(id, attempt, pending, part, file, clock.now()))) return false;
    count(pending);
    return true;
  };

  return {
    add(index, { outcome, payload }) {
      pending[index] = outcome;
      if (payload) records.set(index, payload);
    },

    has: (index) => batch.outcomes[index] !== undefined || pending[index] !== undefined,

    async flush() {
      const outcomes = pending;
      pending = {};
      if (Object.keys(outcomes).length === 0) return true;
      try {
        written += 1;
        const path = partPath(batch, written);
        const its = new Map([...records].filter(([index]) => outcomes[index] !== undefined));
        const bare = await persist(() => writeRecords(context, path, its));
        const part = bare && withQuality(bare, its);
        if (!(await store.recordOutcomes(id, attempt, outcomes, part))) {
          if (part) await discard([part.path]);
          return false;
        }
        count(outcomes);
        Object.assign(batch.outcomes, outcomes);
        if (part) batch.parts.push(part);
        return true;
      } catch (error) {
        // The next flush writes them.
        pending = { ...outcomes, ...pending };
        throw error;
      }
    },

    async finish() {
      const complete = { ...batch, outcomes: { ...batch.outcomes, ...pending } };
      if (!Object.values(complete.outcomes).some(isRecord)) return end(null, null);
      const earlier = Object.entries(batch.outcomes).some(
        ([index, outcome]) => isRecord(outcome) && !records.has(Number(index)),
      );
      if (earlier)
        for (const [index, record] of await readRecords(context, batch)) records.set(index, record);
      const { part, file } = await persist(() => writePart(context, job, complete, records));
      if (!(await end(withQuality(part, records), file))) {
        await discard([part.path]);
        return false;
      }
      await discard(batch.parts.map(({ path }) => path));
      return true;
    },
  };
}

const isRecord = (outcome: Outcome) => outcome.status === 'SUCCESS' && outcome.file === undefined;

/** Retries a write while the blob store is unavailable, and records the wait so that the job shows it. */
async function untilWritten<T>(
  { store, clock, log, random }: BatchWriterContext,
  { id, jobId, attempt, wait: waited }: Batch,
  write: () => Promise<T>,
  signal: AbortSignal,
): Promise<T> {
  for (let failures = 0; ; ) {
    try {
      const result = await write();
      if (failures > 0) await store.setWait(id, attempt, waited).catch(() => {});
      return result;
    } catch (error) {
      if (signal.aborted || countsAsStalled(error)) throw error;
      failures += 1;
      const ms = backOffMs(storageBackOff, failures, random());
      log.error(
        { jobId, batchId: id, failures, ms, error: Fault.from(error).message },
        'records not written',
      );
      const now = clock.now();
      const wait = { since: now, until: now + ms, reason: 'storage unavailable', failures };
      await store.setWait(id, attempt, { ...wait, tries: waited?.tries ?? {} }).catch(() => {});
      await clock.sleep(ms, signal);
    }
  }
}
