import { endOfJob, startJob } from './support/jobs.ts';
import { benchPages, region } from './support/pages.ts';
import { startBenchProgram } from './support/program.ts';
import { type BenchServiceOptions, startService } from './support/service.ts';

const distinct = 4_000;

/** Requests per second to an origin, and the maximum that its response time and concurrency allow. */
export interface SlowOriginResult {
  requestsPerSecond: number;
  limit: number;
}

/**
 * Measures the request rate to an origin with a response time of `delayMs` and a concurrency limit: the
 * highest rate over five consecutive response times during a job of 20 × `concurrency` items.
 */
export async function measureSlowOrigin(
  concurrency: number,
  delayMs: number,
  options: Pick<BenchServiceOptions, 'engines' | 'workers'> = {},
): Promise<SlowOriginResult> {
  const origin = await startBenchProgram<number>('origin.ts', String(distinct), String(delayMs));
  const address = `http://127.0.0.1:${origin.firstMessage}`;
  const service = await startService({
    ...options,
    origins: { mkta: { [region]: address, concurrency, requests_per_second: 10_000 } },
  });
  try {
    const jobId = await startJob(service, service.rest, benchPages(distinct), 20 * concurrency);
    let isOver = false;
    const ending = endOfJob(service.rest, jobId).finally(() => {
      isOver = true;
    });
    const seen: { at: number; requests: number }[] = [];
    while (!isOver) {
      seen.push({ at: performance.now(), requests: await origin.ask<number>('count') });
      await new Promise((resolve) => setTimeout(resolve, delayMs));
    }
    await ending;
    const rates = seen.slice(5).map(({ at, requests }, index) => {
      const before = seen[index]!;
      return ((requests - before.requests) / (at - before.at)) * 1000;
    });
    return { requestsPerSecond: Math.max(...rates), limit: (concurrency / delayMs) * 1000 };
  } finally {
    await service.stop();
    await origin.stop();
  }
}
