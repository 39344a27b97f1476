import type { BatchStore, InFlight } from './batches.ts';
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

/** A count of batches in flight in one region of a job. */
export interface InFlightCount {
  jobId: string;
  region: string;
  batches: number;
  deferred: number;
}

/** Returns the counts of regions by job id. */
export function inFlightByJob(counts: readonly InFlightCount[]): Map<string, InFlight> {
  const byJob = Map.groupBy(counts, ({ jobId }) => jobId);
  return new Map([...byJob].map(([jobId, regions]) => [jobId, inFlightIn(regions)]));
}

function inFlightIn(regions: readonly InFlightCount[]): InFlight {
  const withDeferred = regions.filter(({ deferred }) => deferred > 0);
  return {
    batches: regions.reduce((sum, { batches }) => sum + batches, 0),
    byRegion: new Map(regions.map(({ region, batches }) => [region, batches])),
    deferred: new Map(withDeferred.map(({ region, deferred }) => [region, deferred])),
  };
}

/** Counts the batches of a job in flight (BatchStore.countInFlight). */
export async function inFlightOf(
  { batches }: { batches: Pick<BatchStore, 'countInFlight'> },
  jobId: string,
  now: number,
): Promise<InFlight> {
  return (await batches.countInFlight([jobId], now)).get(jobId) ?? inFlightIn([]);
}
