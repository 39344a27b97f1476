import type { JobSnapshot, View } from '../kind.ts';
import {
  aggregate,
  approvalStatus,
  batchStatus,
  inputText,
  isRejected,
  unitStatus,
} from '../states.ts';

export function submitted({ job }: JobSnapshot) {
  return {
    jobId: job.id,
    status: job.state === 'awaiting_approval' ? 'awaiting_approval' : 'initializing',
    cost: job.cost,
    refunded: job.refunded,
    totalItems: job.totalUnits,
    totalBatches: job.totalBatches,
  };
}

/** Shows the state, the progress and every batch with a fresh link. */
export const retrieve: View = {
  needs: ['batches'],
  async show({ job, batches = [], link }) {
    const details = await Promise.all(
      batches.map(async (batch) => ({
        batchId: batch.id,
        country: batch.region,
        status: batchStatus(batch, job),
        ...(batch.file && batch.success > 0 ? { downloadUrl: await link(batch.file) } : {}),
      })),
    );
    const countStatus = (status: string) =>
      details.filter((batch) => batch.status === status).length;
    const counts = {
      total: details.length,
      success: countStatus('SUCCESS'),
      failed: countStatus('FAILED'),
    };
    return {
      jobId: job.id,
      status: approvalStatus(job, counts),
      jobStatus: derived(counts),
      progress: `${counts.success + counts.failed}/${counts.total} batches complete`,
      batches: details,
    };
  },
};

/** Returns the status that follows from the batches. */
function derived({
  total,
  success,
  failed,
}: {
  total: number;
  success: number;
  failed: number;
}): string {
  if (success + failed === 0) return 'pending';
  return success + failed < total ? 'processing' : aggregate(success, failed);
}

/** Shows the counts of items, and the merged file once it is written. */
export const download: View = {
  needs: ['counts'],
  async show({ job, counts, link }) {
    const { units, batches } = counts!;
    return {
      jobId: job.id,
      status: approvalStatus(job, batches),
      totalItems: job.totalUnits,
      successCount: units.success,
      failedCount: isRejected(job) ? job.totalUnits : units.failed,
      ...(job.file && units.success > 0 ? { downloadUrl: await link(job.file) } : {}),
    };
  },
};

/** Shows one item with its record. */
export const item: View = {
  needs: [{ unit: 'itemId' }],
  show({ job, unit: found }) {
    const { unit, outcome, batch, payload } = found!;
    const status = unitStatus(outcome, job);
    return {
      jobId: job.id,
      itemId: inputText(unit, 'item_id'),
      shopId: inputText(unit, 'shop_id'),
      country: batch.region,
      status,
      ...(payload === null ? {} : { data: payload }),
      ...(status === 'FAILED'
        ? {
            errorLog:
              outcome?.status === 'FAILED'
                ? outcome.message
                : `The job was rejected. ${job.reason}`.trim(),
          }
        : {}),
    };
  },
};
