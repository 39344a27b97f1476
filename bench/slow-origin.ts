import { endOfJob, startJob } from './support/jobs.ts';
import { benchPages, region } from './support/pages.ts';
import { startBenchProgram } from './support/program.ts';
import { startService } from './support/service.ts';

const distinct = 4_000;

/** Requests per second that an origin gets, and the most that its response time and concurrency allow. */
export interface SlowOriginResult {
  requestsPerSecond: number;
  limit: number;
}

/**
 * Measures the requests per second that an origin gets that takes `delayMs` for each and allows `concurrency` at
 * once: the highest rate over five response times in a row of a job of 20 times as many items.
 */
export async function measureSlowOrigin(concurrency: number, delayMs: number): Promise<SlowOriginResult> {
  const origin = await startBenchProgram<number>('origin.ts', String(distinct), String(delayMs));
  const address = `http://127.0.0.1:${origin.said}`;
  const service = await startService({
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
