import { type BackOff, backOffMs } from '../../base/back-off.ts';
import { Fault } from '../../contract/fault.ts';
import {
  countRecords,
  createQualityCounter,
  parseRecord,
  type QualityCounter,
} from '../../quality/data-quality.ts';
import type { RecordFields } from '../../quality/record-schema.ts';
import type { Batch, Outcome, Segment } from '../../store/batches.ts';
import { updateClaim } from '../../store/claims.ts';
import type { Job, StoredFile } from '../../store/documents.ts';
import type { JobContext } from '../context.ts';
import { createPageKeeper, keepsPages } from '../kept-pages.ts';
import { recordFieldsOf } from '../queries/rows.ts';
import { isRecord, openRecords, segmentPath, writeRecords, writeSegment } from '../records.ts';
import { removeIfDeleted } from './late-files.ts';
import { isLoss } from './lost-records.ts';
import type { UnitResult } from './unit-result.ts';

/**
 * Writer of the results of one attempt at a batch. Records are written to the blob store first and
 * count once an outcome refers to them, so a segment orphaned by a crash or a late worker is never
 * read.
 */
export interface BatchWriter {
  /** Adds the result of a unit to the next write. */
  add(index: number, result: UnitResult): void;
  /** Returns true if a unit has an outcome, written or not. */
  has(index: number): boolean;
  /** True if results should be written now, because records take much of the memory. */
  readonly isFull: boolean;
  /**
   * Writes the results added since the last write, one write at a time. Returns false if the claim
   * was lost.
   */
  flush(): Promise<boolean>;
  /**
   * Writes the final segment with all records and completes the batch. Returns false if the claim
   * was lost.
   */
  finish(): Promise<boolean>;
  /** Releases the memory of the records. */
  release(): void;
}

/** Minimum bytes of records that are written early: each write is a file. */
const minFlushBytes = 1024 ** 2;

/**
 * Creates the writer of a claimed batch. While the blob store is unavailable, the writer keeps the
 * records in memory and retries until `signal` aborts, so that pages are not fetched again. Records
 * and pages share one memory limit: when records fill it, they are written early, and read again
 * for the final segment.
 */
export function createBatchWriter(
  context: JobContext,
  job: Job,
  batch: Batch,
  signal: AbortSignal,
): BatchWriter {
  const { store, clock } = context;
  const { id, attempt } = batch;
  const memory = context.pages.records;
  const fields = recordFieldsOf(context.jobTypes.of(job));
  const records = new Map<number, Uint8Array>();
  /** Counts of the records that this writer was given. */
  const added = createQualityCounter(fields);
  const ofEarlierClaims = new Set(Object.keys(batch.outcomes).map(Number));
  const keeper = createPageKeeper(context, job, batch);
  let pending: Record<number, Outcome> = {};
  let pendingBytes = 0;
  let keepRecent: UnitResult['keepRecent'];
  let written = 0;
  let writing: Promise<unknown> = Promise.resolve();
  const persist = <T>(write: () => Promise<T>) => untilWritten(context, batch, write, signal);
  /** Removes unreferenced segments. If this fails, the end of the job removes them. */
  const discard = (paths: readonly string[]) =>
    paths.length === 0 ? undefined : context.blobs.remove(paths).catch(() => {});
  const drop = (indexes: Iterable<number>) => {
    for (const index of indexes) {
      memory.remove(records.get(index)?.byteLength ?? 0);
      records.delete(index);
    }
  };
  /** Stores the record of a single unit for later jobs. Its outcome does not depend on it. */
  const storeRecent = async () => {
    const recent = keepRecent?.();
    keepRecent = undefined;
    await recent?.catch((error) => {
      const { message } = Fault.from(error);
      context.log.warn({ jobId: job.id, batchId: id, error: message }, 'recent record not stored');
    });
  };
  /**
   * Stores outcomes, and ends the batch if there is an `end`. Returns false if the claim was lost.
   */
  const commit = async (
    outcomes: Record<number, Outcome>,
    segment: Segment | null,
    end?: { file: StoredFile | null },
  ): Promise<boolean> => {
    const pages = keepsPages(job) ? await persist(() => keeper.write(indexesOf(outcomes))) : null;
    const write = {
      outcomes,
      segment,
      pages,
      ...(end && { end: { ...end, at: clock.now() } }),
    };
    if (!(await store.batches.recordOutcomes(batch, attempt, write))) {
      await discard([...(segment ? [segment.path] : []), ...keeper.uncommitted()]);
      // The files of units have no other writer either.
      await removeIfDeleted(context, job.id).catch(() => {});
      return false;
    }
    await keeper.commit();
    countUnits(context, job, outcomes);
    return true;
  };
  const end = async (segment: Segment | null, file: StoredFile | null) => {
    if (!(await commit(pending, segment, { file }))) return false;
    await storeRecent();
    return true;
  };

  /** Writes the results since the last write. Returns false if the claim was lost. */
  const write = async (): Promise<boolean> => {
    const outcomes = pending;
    const bytes = pendingBytes;
    pending = {};
    pendingBytes = 0;
    if (Object.keys(outcomes).length === 0) return true;
    try {
      written += 1;
      const path = segmentPath(batch, written);
      const its = new Map([...records].filter(([index]) => outcomes[index] !== undefined));
      const bare = await persist(() => writeRecords(context, path, its));
      // The write that refers to the segment also stores the counts of the records in it.
      const segment = bare && { ...bare, quality: countRecords(fields, its.values()) };
      if (!(await commit(outcomes, segment))) return false;
      Object.assign(batch.outcomes, outcomes);
      if (segment) batch.segments.push(segment);
      if (memory.isFull)
        drop([...records.keys()].filter((index) => batch.outcomes[index] !== undefined));
      return true;
    } catch (error) {
      // The next write includes them.
      pending = { ...outcomes, ...pending };
      pendingBytes += bytes;
      throw error;
    }
  };

  return {
    add(index, { outcome, payload, record, pages, ...unit }) {
      pending[index] = outcome;
      keepRecent = unit.keepRecent;
      if (pages) keeper.add(index, pages);
      if (!payload) return;
      added.add(record ?? parseRecord(payload));
      records.set(index, payload);
      pendingBytes += payload.byteLength;
      memory.add(payload.byteLength);
    },

    has: (index) => batch.outcomes[index] !== undefined || pending[index] !== undefined,

    get isFull() {
      return pendingBytes + keeper.pendingBytes >= minFlushBytes && memory.isFull;
    },

    flush() {
      const result = writing.then(write, write);
      writing = result;
      return result;
    },

    async finish() {
      const complete = { ...batch, outcomes: { ...batch.outcomes, ...pending } };
      if (!Object.values(complete.outcomes).some(isRecord)) return end(null, null);
      const final = await persist(() =>
        composeFinal(context, job, batch, { complete, records, added, fields, ofEarlierClaims }),
      ).catch((error) => {
        if (isLoss(error)) return null;
        throw error;
      });
      // Records of an earlier claim are lost. The end of the job refunds their units, unless the
      // files are restored.
      if (final === null) return (await write()) && end(null, null);
      const { segment, file, quality } = final;
      if (!(await end({ ...segment, quality }, file))) return false;
      await discard(batch.segments.map(({ path }) => path));
      return true;
    },

    release: () => {
      drop([...records.keys()]);
      keeper.release();
    },
  };
}

/** Results of a batch when its last unit has ended. */
interface FinalResults {
  /** The batch with all outcomes. */
  complete: Batch;
  /** Records in memory. The others are in segments. */
  records: ReadonlyMap<number, Uint8Array>;
  /** Counts of the records of this claim. */
  added: QualityCounter;
  fields: RecordFields;
  /** Indexes of the units that ended in earlier claims. */
  ofEarlierClaims: ReadonlySet<number>;
}

/** Writes the segment with all records of a batch. */
async function composeFinal(
  context: JobContext,
  job: Job,
  batch: Batch,
  { complete, records, added, fields, ofEarlierClaims }: FinalResults,
) {
  const counter = createQualityCounter(fields, added.counts());
  const earlier = openRecords(context, batch);
  const composed = await writeSegment(context, job, complete, (index) => {
    const storedRecord = records.get(index);
    if (storedRecord !== undefined) return storedRecord;
    return earlier.read(index).then((record) => {
      if (record !== null && ofEarlierClaims.has(index)) counter.add(parseRecord(record));
      return record;
    });
  });
  return { ...composed, quality: counter.counts() };
}

const indexesOf = (outcomes: Readonly<Record<number, Outcome>>) =>
  Object.keys(outcomes).map(Number);

/** Back-off of one batch, or of a worker, while results cannot be stored. */
export const storageBackOff: BackOff = { firstMs: 2_000, maxMs: 300_000 };

/** Counts ended units in the metrics. */
function countUnits(
  { metrics }: JobContext,
  { market, kind }: Job,
  outcomes: Readonly<Record<number, Outcome>>,
): void {
  for (const outcome of Object.values(outcomes)) {
    const code = outcome.status === 'FAILED' ? outcome.code : 'ok';
    metrics.add('gleaner_units_total', { market, kind, code });
  }
}

/**
 * Retries a write while the blob store is unavailable, and records the wait so that the job shows
 * it.
 */
async function untilWritten<T>(
  { store, clock, log, random }: JobContext,
  batch: Batch,
  write: () => Promise<T>,
  signal: AbortSignal,
): Promise<T> {
  const { id, jobId, wait: previousWait } = batch;
  for (let failures = 0; ; ) {
    try {
      const result = await write();
      if (failures > 0) await updateClaim(store, batch, { wait: previousWait }).catch(() => {});
      return result;
    } catch (error) {
      if (signal.aborted || countsAsStalled(error)) throw error;
      failures += 1;
      const ms = backOffMs(storageBackOff, failures, random());
      log.error(
        {
          jobId,
          batchId: id,
          failures,
          ms,
          error: Fault.from(error).message,
        },
        'records not written',
      );
      const now = clock.steady();
      const tries = previousWait?.tries ?? {};
      const wait = {
        since: now,
        until: now + ms,
        reason: 'storage unavailable',
        failures,
        tries,
      };
      await updateClaim(store, batch, { wait }).catch(() => {});
      await clock.sleep(ms, signal);
    }
  }
}

/**
 * Codes of a full disk or an exceeded limit of the file system, and of a document above MongoDB's
 * limit.
 */
const sizeCodes = new Set<unknown>(['ENOSPC', 'EDQUOT', 'EFBIG', 10_334, 17_419, 17_420]);

/** Returns true if a claim that ended with this error counts as one without progress. */
export function countsAsStalled(error: unknown): boolean {
  const fault = Fault.from(error);
  if (!fault.isOutage) return true;
  // A failing engine is no evidence against the unit, but its own result may have filled the disk.
  return sizeCodes.has((fault.cause as { code?: unknown } | undefined)?.code);
}
