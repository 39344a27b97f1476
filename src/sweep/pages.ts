import type { Clock } from '../base/clock.ts';
import type { Job } from '../store/documents.ts';
import type { JobPlace } from '../store/store.ts';

/** Where the last round left each list that it did not finish, by the list's name. */
export type SweepPlaces = Map<string, JobPlace>;

/** Bounds of the work on one list in one round. */
export interface PageLimits {
  pageSize: number;
  maxJobs: number;
  maxMs: number;
}

const defaultLimits: PageLimits = { pageSize: 500, maxJobs: 5_000, maxMs: 10_000 };

/** A list of jobs to be visited. */
export interface JobList {
  name: string;
  /** Reads jobs in the list's order, those after a place. */
  find(limit: number, after: JobPlace | null): Promise<Job[]>;
  placeOf(job: Job): JobPlace;
  /** Handles a job. Must not reject: a job that keeps failing does not keep the others from their turn. */
  run(job: Job): Promise<unknown>;
}

/**
 * Visits the jobs of a list a page at a time. A round that reaches its limits ends there, and the next one
 * resumes at that place, so every job has its turn however many precede it.
 */
export async function visitJobs(
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
