import { seriesOf } from '../contract/track.ts';
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
