import { isRejected } from '../kinds/states.ts';
import type { BatchSummary, Job } from '../store/documents.ts';
import type { JobContext } from './context.ts';

/** A job's counts at a time. */
export interface ProgressPoint {
  /** Milliseconds since the epoch. */
  at: number;
  success: number;
  failed: number;
}

/** Points told of at most. */
const maxPoints = 200;

/**
 * How a job's counts grew: nothing at its start, then the counts after each batch that ended, at last those
 * of now or of its end. Of many batches only some have a point. A batch from before its end was kept counts
 * at the last point alone.
 */
export async function listProgress({ store, clock }: JobContext, job: Job): Promise<ProgressPoint[]> {
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
  return [...thinned(points, maxPoints - 1), last];
}

/** At most so many of the points, as evenly as may be, the first and the last among them. */
function thinned(points: ProgressPoint[], most: number): ProgressPoint[] {
  if (points.length <= most) return points;
  return Array.from(
    { length: most },
    (_, at) => points[Math.round((at * (points.length - 1)) / (most - 1))]!,
  );
}
