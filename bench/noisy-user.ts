import { endOfJob, startJob } from './support/jobs.ts';
import { benchPages, region } from './support/pages.ts';
import { startBenchProgram } from './support/program.ts';
import { startService } from './support/service.ts';

/** Duration of a user's job in milliseconds, from the submission to the link of the merged file. */
export interface NoisyUserResult {
  aloneMs: number;
  /** While another user has many jobs on the same origin. */
  besideMs: number;
}

const distinct = 4_000;
const concurrency = 32;
/** Response time of the origin, which makes the origin, not the processor, the shared resource. */
const delayMs = 100;
const noisyJobs = 100;
const noisyItems = 1_000;

/**
 * Measures a job of `items` items alone, and after 100 earlier jobs of 1,000 items of another user.
 */
export async function measureNoisyUser(items: number): Promise<NoisyUserResult> {
  const origin = await startBenchProgram<number>('origin.ts', String(distinct), String(delayMs));
  const address = `http://127.0.0.1:${origin.firstMessage}`;
  const service = await startService({
    origins: { mkta: { [region]: address, concurrency, requests_per_second: 10_000 } },
  });
  try {
    const pages = benchPages(distinct);
    const runJob = async () => {
      const began = performance.now();
      await endOfJob(service.rest, await startJob(service, service.rest, pages, items));
      return performance.now() - began;
    };
    const noisy = await service.addUser();
    await runJob();
    const aloneMs = await runJob();
    for (let job = 0; job < noisyJobs; job += 1) await startJob(service, noisy, pages, noisyItems);
    return { aloneMs, besideMs: await runJob() };
  } finally {
    await service.stop();
    await origin.stop();
  }
}
