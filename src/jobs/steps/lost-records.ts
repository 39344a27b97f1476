import { Fault } from '../../contract/fault.ts';
import type { Batch, Outcome } from '../../store/batches.ts';
import type { Job } from '../../store/documents.ts';
import type { JobContext } from '../context.ts';
import { jobRefunds } from '../credits.ts';
import type { FailedOutcome } from '../indexed-units.ts';
import { isRecord, readRecords, readRows, segmentWithRows } from '../records.ts';

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
 * that they are refunded and the job ends with the others. The records of a batch are lost
 * together. Returns the number of units: 0 until `restorableMs` after the end of the last one.
 */
export async function failLostRecords(context: JobContext, job: Job): Promise<number> {
  const { clock, log, metrics, store } = context;
  const { id: jobId, market, kind, state } = job;
  const summaries = await store.batches.find({ jobId });
  const endedAt = Math.max(...summaries.map((batch) => batch.endedAt ?? 0));
  if (clock.now() - endedAt < restorableMs) return 0;
  // A job is refunded once. Its refund follows the merged file, which it then has lost since.
  if ((await jobRefunds(store, job)).entry !== null) return 0;
  let lost = 0;
  for await (const batch of store.batches.read(jobId)) {
    if (await isReadable(context, batch)) continue;
    const { id, attempt } = batch;
    const change = withoutRecords(batch);
    await store.batches.writeAll([], [[{ id, jobId, state: 'done', attempt }, change]]);
    const units = change.failed - batch.failed;
    log.error({ jobId, batchId: id, units }, 'records lost');
    metrics.add('gleaner_units_total', { market, kind, code: lostOutcome.code }, units);
    lost += units;
  }
  // A merged file whose rows are lost cannot be written again with the same contents.
  if (lost > 0) await store.jobs.update({ id: jobId, state }, { file: null });
  return lost;
}

/** Returns true if the records of a batch are as they were written. */
async function isReadable(context: JobContext, batch: Batch): Promise<boolean> {
  const segment = segmentWithRows(batch);
  const contents = segment ? readRows(context, batch, segment) : readRecords(context, batch);
  try {
    for await (const _content of contents);
    return true;
  } catch (error) {
    if (isLoss(error)) return false;
    throw error;
  }
}

/** Returns true for the fault of a file that is missing or changed. */
export function isLoss(error: unknown): boolean {
  return ['storage_damaged', 'results_deleted'].includes(Fault.from(error).code);
}

/** Returns the change of a batch whose records are lost. */
function withoutRecords(
  batch: Batch,
): Pick<Batch, 'outcomes' | 'success' | 'failed' | 'segments' | 'storedBytes' | 'file'> {
  const outcomes: Record<number, Outcome> = {};
  let units = 0;
  for (const [index, outcome] of Object.entries(batch.outcomes)) {
    const isLost = isRecord(outcome);
    outcomes[Number(index)] = isLost ? lostOutcome : outcome;
    if (isLost) units += 1;
  }
  const segmentBytes = batch.segments.reduce((sum, { bytes }) => sum + bytes, 0);
  return {
    outcomes,
    success: batch.success - units,
    failed: batch.failed + units,
    segments: [],
    storedBytes: Math.max(0, batch.storedBytes - segmentBytes),
    file: null,
  };
}
