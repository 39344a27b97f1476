import { endOfJob, startJob } from './support/jobs.ts';
import { benchPages, region } from './support/pages.ts';
import { startBenchProgram } from './support/program.ts';
import { type BenchServiceOptions, startService } from './support/service.ts';

const distinct = 4_000;

/** Number of workers, and their stack. */
export type WorkerOptions = Pick<BenchServiceOptions, 'engines' | 'workers' | 'pageProcesses'>;

/** Limits of an origin, its response time, and the number of requests of a job. */
interface Course {
  concurrency: number;
  requestsPerSecond: number;
  delayMs: number;
  items: number;
  /** Interval between two counts, in milliseconds. */
  everyMs: number;
}

/** Number of requests that the origin has received. */
interface Count {
  atMs: number;
  requests: number;
}

/**
 * Requests per second to an origin, and the maximum that its response time and concurrency allow.
 */
export interface SlowOriginResult {
  requestsPerSecond: number;
  limit: number;
}

/** Shares of the requests that an origin's rate limit allows. */
export interface RateLimitedResult {
  /** Share that was sent between the first seconds of a job and its last one. */
  used: number;
  /** Share that was sent in the second with the most requests. */
  peak: number;
}

/** Counts the requests that the origin receives during a job. */
async function countRequests(course: Course, options: WorkerOptions): Promise<Count[]> {
  const { concurrency, requestsPerSecond, delayMs, items, everyMs } = course;
  const origin = await startBenchProgram<number>('origin.ts', String(distinct), String(delayMs));
  const address = `http://127.0.0.1:${origin.firstMessage}`;
  const service = await startService({
    ...options,
    origins: { mkta: { [region]: address, concurrency, requests_per_second: requestsPerSecond } },
  });
  try {
    const jobId = await startJob(service, service.rest, benchPages(distinct), items);
    let isOver = false;
    const ending = endOfJob(service.rest, jobId).finally(() => {
      isOver = true;
    });
    const counts: Count[] = [];
    while (!isOver) {
      counts.push({ atMs: performance.now(), requests: await origin.ask<number>('count') });
      await new Promise((resolve) => setTimeout(resolve, everyMs));
    }
    await ending;
    return counts;
  } finally {
    await service.stop();
    await origin.stop();
  }
}

const rateBetween = (from: Count, to: Count) =>
  ((to.requests - from.requests) / (to.atMs - from.atMs)) * 1000;

/**
 * Measures the request rate to an origin with a response time of `delayMs` and a concurrency limit:
 * the highest rate over five consecutive response times during a job of 20 × `concurrency` items.
 */
export async function measureSlowOrigin(
  concurrency: number,
  delayMs: number,
  options: WorkerOptions = {},
): Promise<SlowOriginResult> {
  const items = 20 * concurrency;
  const course = { concurrency, requestsPerSecond: 10_000, delayMs, items, everyMs: delayMs };
  const counts = await countRequests(course, options);
  const rates = counts.slice(5).map((count, index) => rateBetween(counts[index]!, count));
  return { requestsPerSecond: Math.max(...rates), limit: (concurrency / delayMs) * 1000 };
}

/**
 * Measures how much of an origin's allowed rate a job of 25 seconds uses. The concurrency of the
 * origin suffices for the rate.
 */
export async function measureRateLimited(
  requestsPerSecond: number,
  concurrency: number,
  delayMs: number,
  options: WorkerOptions = {},
): Promise<RateLimitedResult> {
  const items = 25 * requestsPerSecond;
  const course = { concurrency, requestsPerSecond, delayMs, items, everyMs: 100 };
  const counts = await countRequests(course, options);
  const steady = counts.filter(
    ({ requests }) => requests > 4 * requestsPerSecond && requests < items * 0.95,
  );
  const seconds = steady.slice(10).map((count, index) => rateBetween(steady[index]!, count));
  return {
    used: rateBetween(steady[0]!, steady.at(-1)!) / requestsPerSecond,
    peak: Math.max(...seconds) / requestsPerSecond,
  };
}
