import type { Clock } from '../base/clock.ts';
import type { Cursor } from '../store/cursor.ts';
import type { Job } from '../store/documents.ts';

/** Position where the last round stopped, by the name of the list. */
export type SweepPlaces = Map<string, Cursor>;

/** Limits on the work for one list in one round. */
export interface PageLimits {
  pageSize: number;
  maxJobs: number;
  maxMs: number;
}

const defaultLimits: PageLimits = { pageSize: 500, maxJobs: 5_000, maxMs: 10_000 };

/** A list of jobs to process. */
export interface JobList {
  name: string;
  /** Returns up to `limit` jobs in the list's order, starting after a position. */
  find(limit: number, after: Cursor | null): Promise<Job[]>;
  placeOf(job: Job): Cursor;
  /** Processes a job. Must not reject, so that a failing job does not block the others. */
  run(job: Job): Promise<unknown>;
}

/**
 * Processes the jobs of a list page by page. A round that reaches its limits stops, and the next round
 * resumes at that position, so that no job starves.
 */
export async function processJobs(
  { name, find, placeOf, run }: JobList,
  places: SweepPlaces,
  clock: Clock,
  signal: AbortSignal | undefined,
  { pageSize, maxJobs, maxMs }: PageLimits = defaultLimits,
): Promise<void> {
  const until = clock.now() + maxMs;
  let left = maxJobs;
  for (;;) {
    const limit = Math.min(pageSize, left);
    const page = await find(limit, places.get(name) ?? null);
    for (const job of page) {
      if (signal?.aborted) return;
      places.set(name, placeOf(job));
      left -= 1;
      await run(job);
      if (clock.now() >= until) return;
    }
    if (page.length < limit) {
      places.delete(name);
      return;
    }
    if (left <= 0) return;
  }
}
