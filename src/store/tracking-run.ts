import { seriesOf } from '../contract/track.ts';
import type { Collections } from './collections.ts';
import type { Job } from './documents.ts';
import type { TrackingRun } from './history.ts';

/**
 * Creates the run of an ended job, due immediately. Returns null for a job that is not tracked or never ran,
 * and for one whose results its owner has not released: they neither enter the history nor cause messages.
 */
export function newTrackingRun(job: Job): TrackingRun | null {
  const series = seriesOf(job.options.track);
  if (series === null || job.finishedAt === null || job.state === 'rejected') return null;
  if (job.hold !== null && job.hold.state !== 'released') return null;
  return {
    jobId: job.id,
    userId: job.userId,
    market: job.market,
    kind: job.kind,
    series,
    at: job.finishedAt,
    dueAt: job.finishedAt,
    take: 0,
    turn: 'waiting',
    stage: 'items',
    nextBatch: 0,
    counts: { new: 0, changed: 0, missing: 0, back: 0, unchanged: 0 },
    messages: 0,
    doneAt: null,
  };
}

type Runs = Pick<Collections, 'trackingRuns'>;

/** Returns the conditions of a run that is not done and whose claim is not lost. */
const claimed = ({ jobId, take }: Pick<TrackingRun, 'jobId' | 'take'>) => ({
  jobId,
  take,
  stage: { not: 'done' as const },
});

/** Writes the progress of a run. Returns false if its claim was lost. */
export async function writeProgress({ trackingRuns }: Runs, run: TrackingRun): Promise<boolean> {
  const { dueAt, turn, stage, nextBatch, counts, messages, doneAt } = run;
  const end = turn === 'active' ? {} : { activeUser: null };
  const change = { dueAt, turn, stage, nextBatch, counts, messages, doneAt, ...end };
  return (await trackingRuns.update(claimed(run), change)) !== null;
}

/**
 * Returns true if a run of the user that is not done comes before this one, by the end and the id of the job.
 * Failed runs count in their own series only.
 */
export async function hasEarlierRun(
  { trackingRuns }: Runs,
  { userId, series, at, jobId }: Pick<TrackingRun, 'userId' | 'series' | 'at' | 'jobId'>,
): Promise<boolean> {
  const open = { userId, dueAt: { not: null } };
  const earlier = { newestFirst: true, after: [at, jobId], limit: 1 };
  const before = await trackingRuns.find({ ...open, turn: { in: ['waiting', 'active'] } }, earlier);
  if (before.length > 0) return true;
  return series !== '' && (await trackingRuns.find({ ...open, turn: 'failed', series }, earlier)).length > 0;
}

/**
 * Makes a run the active one of its user. Returns false, and changes nothing, if the claim was lost or
 * another run of the user is active.
 */
export async function beginRun(
  { trackingRuns }: Runs,
  run: Pick<TrackingRun, 'jobId' | 'userId' | 'take'>,
): Promise<boolean> {
  const change = { turn: 'active', activeUser: run.userId } as const;
  return (await trackingRuns.update(claimed(run), change)) !== null;
}
