import type { BatchStore } from './batches.ts';
import type { Counts } from './documents.ts';

/** Counts of a job as database queries return them. */
export interface CountRow {
  units: number;
  success: number;
  failed: number;
  batches: number;
  /** Done batches with at least one result. */
  good: number;
  /** Done batches without a result. */
  bad: number;
}

/** Converts a row to counts. */
export function readCounts({ units, success, failed, batches, good, bad }: CountRow): Counts {
  return {
    units: { total: units, success, failed },
    batches: { total: batches, success: good, failed: bad },
  };
}

/** Returns the counts of a job without batches. */
export function emptyCounts(): Counts {
  return {
    units: { total: 0, success: 0, failed: 0 },
    batches: { total: 0, success: 0, failed: 0 },
  };
}

/** Computes a job's counts from its batches. */
export async function countsOf(
  { batches }: { batches: Pick<BatchStore, 'countJobs'> },
  jobId: string,
): Promise<Counts> {
  return (await batches.countJobs([jobId])).get(jobId) ?? emptyCounts();
}
