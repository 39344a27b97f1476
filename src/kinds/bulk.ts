import type { Counts } from '../store/documents.ts';
import { aggregate } from '../store/job-states.ts';
import type { JobSnapshot } from './kind.ts';

/** Returns the public status of a bulk job. It is terminal once no unit is outstanding. */
export function bulkStatus({ total, success, failed }: Counts['units']): string {
  return success + failed < total ? 'processing' : aggregate(success, failed);
}

/** Returns the counts of a bulk job, and the link to its result file once it is compiled. */
export async function bulkProgress({ job, counts, link }: JobSnapshot) {
  const { units } = counts!;
  const done = units.success + units.failed;
  const compiling = job.finishedAt === null && units.total > 0 && done === units.total;
  return {
    status: bulkStatus(units),
    total: units.total,
    success: units.success,
    failed: units.failed,
    pending: units.total - done,
    progress: units.total === 0 ? 0 : done / units.total,
    ...(job.file ? { downloadUrl: await link(job.file) } : {}),
    ...(compiling ? { message: 'The result file is being compiled.' } : {}),
  };
}

export function bulkSubmitted({ job }: JobSnapshot) {
  return {
    jobId: job.id,
    status: 'processing',
    total: job.totalUnits,
    cost: job.cost,
    ...(job.refunded > 0
      ? {
          refunded: job.refunded,
          message: `Work for ${job.refunded} credits could not be queued; they were refunded.`,
        }
      : {}),
  };
}
