import { endOfJob, startJob } from './support/jobs.ts';
import { benchPages, region } from './support/pages.ts';
import { startBenchProgram } from './support/program.ts';
import { startService } from './support/service.ts';

/** Durations of one user's job in milliseconds, from its submit to the link of its merged file. */
export interface NoisyUserResult {
  aloneMs: number;
  /** While another user has many jobs at the same origin. */
  besideMs: number;
}

const distinct = 4_000;
const concurrency = 32;
/** Response time of the origin: it and not a processor is what the users share. */
const delayMs = 100;
const noisyJobs = 100;
const noisyItems = 1_000;

/** Measures a job of `items` items alone, and beside 100 jobs of 1,000 items of another user that were there before. */
export async function measureNoisyUser(items: number): Promise<NoisyUserResult> {
  const origin = await startBenchProgram<number>('origin.ts', String(distinct), String(delayMs));
  const address = `http://127.0.0.1:${origin.said}`;
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
