import { seriesOf } from '../contract/track.ts';
import type { Collections } from './collections.ts';
import type { Job } from './documents.ts';
import type { TrackingRun } from './history.ts';

/**
 * Creates the run of an ended job, due immediately. Returns null for a job that is not tracked or
 * never ran, and for one whose results its owner has not released: they neither enter the history
 * nor cause messages.
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
    revision: 0,
    queueState: 'waiting',
    stage: 'items',
    nextBatch: 0,
    counts: {
      new: 0,
      changed: 0,
      missing: 0,
      back: 0,
      unchanged: 0,
    },
    messages: 0,
    failedAt: null,
    isSkipped: false,
    doneAt: null,
  };
}

type Runs = Pick<Collections, 'trackingRuns'>;

/** Returns the conditions of a run that is not done and whose claim is not lost. */
const claimed = ({ jobId, revision }: Pick<TrackingRun, 'jobId' | 'revision'>) => ({
  jobId,
  revision,
  stage: { not: 'done' as const },
});

/** Writes the progress of a run. Returns false if its claim was lost. */
export async function writeProgress({ trackingRuns }: Runs, run: TrackingRun): Promise<boolean> {
  const { dueAt, queueState, stage, nextBatch, counts, messages, failedAt, isSkipped, doneAt } =
    run;
  const progress = {
    dueAt,
    queueState,
    stage,
    nextBatch,
    counts,
    messages,
    failedAt,
    isSkipped,
    doneAt,
  };
  const change = queueState === 'active' ? progress : { ...progress, activeUser: null };
  return (await trackingRuns.update(claimed(run), change)) !== null;
}

/** Identifies a run and its position in the order of its user. */
type RunPosition = Pick<TrackingRun, 'userId' | 'series' | 'at' | 'jobId'>;

/**
 * Returns the run that a run waits for: an earlier run of the user that is `waiting` or `active`,
 * or an earlier run of its own series that has failed, or is behind such a run. Null if it can
 * begin. Runs are ordered by the end and the id of the job.
 */
export async function waitOf(
  { trackingRuns }: Runs,
  { userId, series, at, jobId }: RunPosition,
): Promise<'earlier_run' | 'failed_run' | null> {
  const open = { userId, dueAt: { not: null } };
  const earlier = { newestFirst: true, after: [at, jobId], limit: 1 };
  if (series !== '') {
    const stopped = { ...open, series, queueState: { in: ['failed', 'behind'] } } as const;
    if ((await trackingRuns.find(stopped, earlier)).length > 0) return 'failed_run';
  }
  const before = await trackingRuns.find(
    { ...open, queueState: { in: ['waiting', 'active'] } },
    earlier,
  );
  return before.length > 0 ? 'earlier_run' : null;
}

/**
 * Returns true if a run of the series whose job ended later has been compared. A skipped run was
 * not compared.
 */
export async function isLate(
  { trackingRuns }: Runs,
  { userId, series, at, jobId }: RunPosition,
): Promise<boolean> {
  if (series === '') return false;
  const later = await trackingRuns.find(
    {
      userId,
      series,
      at: { atLeast: at },
      stage: 'done',
      isSkipped: false,
    },
    { after: [at, jobId], limit: 1 },
  );
  return later.length > 0;
}

/**
 * Makes a run the active one of its user. Returns false, and changes nothing, if the claim was lost
 * or another run of the user is active.
 */
export async function beginRun(
  { trackingRuns }: Runs,
  run: Pick<TrackingRun, 'jobId' | 'userId' | 'revision'>,
): Promise<boolean> {
  const change = { queueState: 'active', activeUser: run.userId } as const;
  return (await trackingRuns.update(claimed(run), change)) !== null;
}

/**
 * Makes the first run of a user that waits for its turn due now, because the run before has ended.
 * Voids its claim: a process that has just found the run before must not make it wait.
 */
export async function wakeNext({ trackingRuns }: Runs, userId: string, now: number): Promise<void> {
  const waiting = { userId, queueState: 'waiting', dueAt: { above: now } } as const;
  const [next] = await trackingRuns.find(waiting, { limit: 1 });
  if (next === undefined) return;
  const { jobId, revision } = next;
  await trackingRuns.update(
    { ...waiting, jobId, revision },
    { dueAt: now },
    { add: { revision: 1 } },
  );
}

/** A run that is done. */
export type DoneRun = TrackingRun & { doneAt: number };

/** Selects runs of a user. Empty text matches everything. */
export type RunSelection = Pick<TrackingRun, 'userId' | 'market' | 'series'>;

/** Returns runs that are done since a time, in this order, and after a run of an earlier call. */
export async function findDoneRuns(
  { trackingRuns }: Runs,
  { userId, market, series }: RunSelection,
  { at, after }: { at: number; after: DoneRun | null },
  limit: number,
): Promise<DoneRun[]> {
  const scope = { market: market || undefined, series: series || undefined };
  const found = await trackingRuns.find(
    { userId, ...scope, doneAt: { not: null, atLeast: at } },
    {
      order: ['doneAt', 'jobId'],
      after: after === null ? null : [after.doneAt, after.jobId],
      limit,
    },
  );
  return found as DoneRun[];
}

/**
 * Returns the time at which a run of a user ends: now, or after the run that ended last, if the
 * clock was set back.
 */
export async function nextDoneAt(
  { trackingRuns }: Runs,
  userId: string,
  now: number,
): Promise<number> {
  const last = await trackingRuns.pick({ userId, doneAt: { not: null, above: 0 } }, ['doneAt'], {
    order: ['doneAt', 'jobId'],
    newestFirst: true,
  });
  return Math.max(now, (last?.doneAt ?? 0) + 1);
}

/**
 * Makes a run that has failed due to end without its result, whatever process has a claim of it.
 * It ends in its turn, so that the runs of a user end one at a time. Returns null, and changes
 * nothing, if the run has not failed or is due to end already.
 */
export function skipRun(
  { trackingRuns }: Runs,
  jobId: string,
  now: number,
): Promise<TrackingRun | null> {
  return trackingRuns.update(
    { jobId, stage: { not: 'done' }, failedAt: { not: null }, isSkipped: false },
    {
      queueState: 'waiting',
      activeUser: null,
      dueAt: now,
      isSkipped: true,
    },
    { add: { revision: 1 } },
  );
}
