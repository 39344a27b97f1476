import { Fault } from '../../contract/fault.ts';
import type { Batch, Outcome, Segment } from '../../store/batches.ts';
import type { Job } from '../../store/documents.ts';
import type { JobContext } from '../context.ts';
import { jobRefunds } from '../credits.ts';
import type { FailedOutcome } from '../indexed-units.ts';
import { isRecord, readRecord, readRows, segmentWithRows } from '../records.ts';

/**
 * Time after the end of a job's last unit in which its files can be restored, in milliseconds: a
 * folder that is mounted in the wrong place, or the bucket of another installation, must not end
 * all jobs without their results.
 */
export const restorableMs = 3_600_000;

const lostOutcome: FailedOutcome = {
  status: 'FAILED',
  code: 'storage_damaged',
  message: 'The record of this unit was removed from the result storage, or changed in it.',
};

/**
 * Fails the units of an ending job whose records are missing or changed in the result storage, so
 * that they are refunded and the job ends with the others. Rows of a batch are lost together.
 * Returns the number of units: 0 until `restorableMs` after the end of the last one.
 */
export async function failLostRecords(context: JobContext, job: Job): Promise<number> {
  const { clock, log, metrics, store } = context;
  const { id: jobId, market, kind, state } = job;
  const summaries = await store.batches.find({ jobId });
  const endedAt = Math.max(...summaries.map((batch) => batch.endedAt ?? 0));
  if (clock.now() - endedAt < restorableMs) return 0;
  // A job is refunded once. Its refund follows the merged file, which it then has lost since.
  if ((await jobRefunds(store, job)).entry !== null) return 0;
  let total = 0;
  for await (const batch of store.batches.read(jobId)) {
    const lost = await findLost(context, batch);
    if (lost.size === 0) continue;
    const { id, attempt } = batch;
    const where = { id, jobId, state: 'done' as const, attempt };
    await store.batches.writeAll([], [[where, withoutRecords(batch, lost)]]);
    log.error({ jobId, batchId: id, units: lost.size }, 'records lost');
    metrics.add('gleaner_units_total', { market, kind, code: lostOutcome.code }, lost.size);
    total += lost.size;
  }
  // A merged file whose rows are lost cannot be written again with the same contents.
  if (total > 0) await store.jobs.update({ id: jobId, state }, { file: null });
  return total;
}

/** Returns true for the fault of a file that is missing or changed. */
export function isLoss(error: unknown): boolean {
  return ['storage_damaged', 'results_deleted'].includes(Fault.from(error).code);
}

/** Returns the indexes of the units whose records differ from what was written. */
async function findLost(context: JobContext, batch: Batch): Promise<ReadonlySet<number>> {
  const indexes = Object.keys(batch.outcomes).map(Number);
  const recordIndexes = indexes.filter((index) => isRecord(batch.outcomes[index]));
  const segment = segmentWithRows(batch);
  if (segment) {
    const isLost = await fails(() => readAll(readRows(context, batch, segment)));
    return new Set(isLost ? recordIndexes : []);
  }
  const lost = new Set<number>();
  for (const index of recordIndexes)
    if (await fails(() => readRecord(context, batch, index))) lost.add(index);
  return lost;
}

async function readAll(chunks: AsyncIterable<Uint8Array>): Promise<void> {
  for await (const _chunk of chunks);
}

/** Returns true if a file that is read is missing or changed. */
async function fails(read: () => Promise<unknown>): Promise<boolean> {
  try {
    await read();
    return false;
  } catch (error) {
    if (isLoss(error)) return true;
    throw error;
  }
}

/** Returns the change of a batch whose records of some units are lost. */
function withoutRecords(
  batch: Batch,
  lost: ReadonlySet<number>,
): Pick<Batch, 'outcomes' | 'success' | 'failed' | 'segments' | 'storedBytes' | 'file'> {
  const outcomes: Record<number, Outcome> = { ...batch.outcomes };
  for (const index of lost) outcomes[index] = lostOutcome;
  const isEmpty = ({ records }: Segment) =>
    Object.keys(records).every((index) => lost.has(Number(index)));
  const removedBytes = batch.segments
    .filter(isEmpty)
    .reduce((sum, segment) => sum + segment.bytes, 0);
  return {
    outcomes,
    success: batch.success - lost.size,
    failed: batch.failed + lost.size,
    segments: batch.segments.filter((segment) => !isEmpty(segment)),
    storedBytes: Math.max(0, batch.storedBytes - removedBytes),
    file: null,
  };
}
