import { createBoundedMap } from '../../base/bounded-map.ts';
import { createFairQueue } from '../../base/fair-queue.ts';
import type { Job } from '../../store/documents.ts';

/** Maximum scans of jobs that run at the same time in a process. */
const maxScans = 2;
/** Memory for the results of scans, in bytes. */
const maxBytes = 32 * 1024 * 1024;

/**
 * Results of reading all records of a job. Those of ended jobs are kept, and concurrent equal scans
 * run once.
 */
export interface Scans<Result extends NonNullable<unknown>> {
  /** Returns the result of a scan. `name` identifies it within the job. */
  of(job: Job, name: string, scan: () => Promise<Result>): Promise<Result>;
}

/** Creates the results of scans. Runs a few scans at a time, in turn for each user. */
export function createScans<Result extends NonNullable<unknown>>(
  sizeOf: (result: Result) => number,
): Scans<Result> {
  const results = createBoundedMap<Result>({ maxBytes, sizeOf });
  const open = new Map<string, Promise<Result>>();
  const waiting = createFairQueue<() => void>();
  let running = 0;

  const run = async (job: Job, scan: () => Promise<Result>): Promise<Result> => {
    if (running >= maxScans)
      await new Promise<void>((start) => waiting.add(start, { userId: job.userId, jobId: job.id }));
    else running += 1;
    try {
      return await scan();
    } finally {
      const next = waiting.take();
      if (next) next();
      else running -= 1;
    }
  };
  return {
    of(job, name, scan) {
      // A scan that began while the job ran may lack its last records.
      const key = `${job.id} ${job.finishedAt} ${name}`;
      const result = job.finishedAt === null ? undefined : results.get(key);
      if (result !== undefined) return Promise.resolve(result);
      const current =
        open.get(key) ??
        run(job, scan)
          .then((scanned) => {
            if (job.finishedAt !== null) results.set(key, scanned);
            return scanned;
          })
          .finally(() => open.delete(key));
      open.set(key, current);
      return current;
    },
  };
}
