import { timeOfDay } from '../../base/clock.ts';
import { isWithin, nextWithin } from '../../base/working-hours.ts';
import { countsOf, firstWait, inFlightOf } from '../../store/batch-store.ts';
import type { BatchSummary } from '../../store/batches.ts';
import type { Counts, Job } from '../../store/documents.ts';
import { isRejected, runningStates } from '../../store/job-states.ts';
import type { JobContext } from '../context.ts';

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
 * Returns the growth of a job's counts: zero at its start, the counts after each batch that ended,
 * and the counts now or at its end. Of many batches, 200 evenly spaced points remain. A batch in
 * progress counts only in the last point.
 */
export async function listProgress(
  { store, clock }: JobContext,
  job: Job,
): Promise<ProgressPoint[]> {
  const batches = await store.batches.find({ jobId: job.id });
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
  const last = points.length - 1;
  const indexAt = (at: number) => Math.round((at * last) / (max - 1));
  return Array.from({ length: max }, (_, at) => points[indexAt(at)]!);
}

/**
 * Returns what a running job waits for and when it continues: working hours, or the reason of the
 * batch that continues first, as in "mkta/id: blocked (page_blocked), next try
 * 2030-01-07T04:00:00.000Z". Null if it waits for nothing.
 */
export async function waitingFor(
  context: JobContext,
  job: Job,
  counts?: Counts,
): Promise<string | null> {
  if (!runningStates.includes(job.state)) return null;
  const { store, clock } = context;
  if (!isOpen(context, job)) {
    const { batches } = counts ?? (await countsOf(store, job.id));
    const left = batches.total - batches.success - batches.failed;
    const inFlight = await inFlightOf(store, job.id, clock.steady());
    let dispatched = inFlight.batches;
    for (const count of inFlight.deferred.values()) dispatched += count;
    // Batches dispatched before the end of working hours continue.
    if (left > dispatched) {
      const opensAt = nextWithin(context.settings.workingHours!, clock.now());
      return waitText('working hours', opensAt);
    }
  }
  const first = await firstWait(store, job.id, clock.steady());
  if (first === null) return null;
  return waitText(first.reason, timeOfDay(clock, first.until));
}

const waitText = (reason: string, nextTry: number) =>
  `${reason}, next try ${new Date(nextTry).toISOString()}`;

/** Returns false while a live job of a kind with working hours is outside of them. */
export function isOpen(context: JobContext, job: Pick<Job, 'kind' | 'market' | 'mode'>): boolean {
  const { workingHours } = context.settings;
  if (workingHours === null || job.mode === 'test') return true;
  const { kind } = context.jobTypes.of(job);
  return !kind.workingHours || isWithin(workingHours, context.clock.now());
}
