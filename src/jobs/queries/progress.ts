import { isRejected } from '../../kinds/states.ts';
import type { BatchSummary, Job } from '../../store/documents.ts';
import type { JobContext, StoreUse } from '../context.ts';

/** Dependencies of this module. */
export type ProgressContext = Pick<JobContext, 'clock'> & StoreUse<'listBatches'>;

/** A job's counts at one time. */
export interface ProgressPoint {
  /** Milliseconds since the epoch. */
  at: number;
  success: number;
  failed: number;
}

/** Maximum points returned. */
const maxPoints = 200;

/**
 * Returns the growth of a job's counts: zero at its start, the counts after each batch that ended, and the counts now
 * or at its end. Of many batches, 200 evenly spaced points remain. A batch written by a version that did not store the
 * time of its end counts only in the last point.
 */
export async function listProgress({ store, clock }: ProgressContext, job: Job): Promise<ProgressPoint[]> {
  const batches = await store.listBatches(job.id);
  const ended = batches
    .filter((batch): batch is BatchSummary & { endedAt: number } => batch.endedAt !== null)
    .sort((one, other) => one.endedAt - other.endedAt);
  const points: ProgressPoint[] = [{ at: job.startedAt ?? job.createdAt, success: 0, failed: 0 }];
  for (const { endedAt, success, failed } of ended) {
    const before = points.at(-1)!;
    const at = Math.max(before.at, endedAt);
    const point = { at, success: before.success + success, failed: before.failed + failed };
    if (at === before.at && points.length > 1) points[points.length - 1] = point;
    else points.push(point);
  }
  const success = batches.reduce((sum, batch) => sum + batch.success, 0);
  const failed = batches.reduce((sum, batch) => sum + batch.failed, 0);
  const last = {
    at: Math.max(points.at(-1)!.at, job.finishedAt ?? clock.now()),
    success,
    failed: isRejected(job) ? job.totalUnits : failed,
  };
  return [...sample(points, maxPoints - 1), last];
}

/** Returns up to `max` evenly spaced points, including the first and the last. */
function sample(points: ProgressPoint[], max: number): ProgressPoint[] {
  if (points.length <= max) return points;
  return Array.from({ length: max }, (_, at) => points[Math.round((at * (points.length - 1)) / (max - 1))]!);
}
