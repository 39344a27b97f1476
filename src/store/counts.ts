import type { Counts } from './documents.ts';

/** Counts of a job as engines add them up, side by side. */
export interface CountRow {
  units: number;
  success: number;
  failed: number;
  batches: number;
  /** Batches that are done with at least one result. */
  good: number;
  /** Batches that are done with none. */
  bad: number;
}

/** The counts in a row. */
export function readCounts({ units, success, failed, batches, good, bad }: CountRow): Counts {
  return {
    units: { total: units, success, failed },
    batches: { total: batches, success: good, failed: bad },
  };
}

/** Counts of a job without batches. */
export function countNothing(): Counts {
  return { units: { total: 0, success: 0, failed: 0 }, batches: { total: 0, success: 0, failed: 0 } };
}
