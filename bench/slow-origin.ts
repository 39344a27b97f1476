import { endOfJob, startJob } from './support/jobs.ts';
import { benchPages, region } from './support/pages.ts';
import { startBenchProgram } from './support/program.ts';
import { startService } from './support/service.ts';

const distinct = 4_000;
const delayMs = 1_000;
const tickMs = 1_000;

/**
 * Measures the requests per second that an origin gets which takes a second for each and allows `concurrency` at
 * once: at best as many. Returns the highest rate over five seconds in a row of a job of 20 times as many items.
 */
export async function measureSlowOrigin(concurrency: number): Promise<number> {
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
      await new Promise((resolve) => setTimeout(resolve, tickMs));
    }
    await ending;
    const rates = seen.slice(5).map(({ at, requests }, index) => {
      const before = seen[index]!;
      return ((requests - before.requests) / (at - before.at)) * 1000;
    });
    return Math.max(...rates);
  } finally {
    await service.stop();
    await origin.stop();
  }
}
