import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { endOfJob, startJob } from './support/jobs.ts';
import { benchPages, region } from './support/pages.ts';
import { startBenchProgram } from './support/program.ts';
import { startService } from './support/service.ts';
import { processorMs } from './support/usage.ts';

/** CPU time per item of the first and of the last job, in microseconds. */
export interface GrowthResult {
  first: number;
  last: number;
}

const distinct = 4_000;
const warmUpItems = 4_000;

/**
 * Runs `jobs` variant-sold jobs of `items` items one after the other on one embedded store, which keeps every
 * unit and outcome. Removes result files after each job, so that the disk does not fill up.
 */
export async function measureGrowth(
  jobs: number,
  items: number,
  report: (job: number, processorUs: number) => void,
): Promise<GrowthResult> {
  const origin = await startBenchProgram<number>('origin.ts', String(distinct));
  const address = `http://127.0.0.1:${origin.firstMessage}`;
  const service = await startService({
    origins: { mkta: { [region]: address, concurrency: 32, requests_per_second: 10_000 } },
  });
  const pages = benchPages(distinct);
  const run = async (count: number) => {
    const before = processorMs(service.pid);
    const jobId = await startJob(service, service.rest, pages, count);
    await endOfJob(service.rest, jobId);
    const used = processorMs(service.pid) - before;
    rmSync(join(service.dataDir, 'results', jobId), { recursive: true });
    return (used / count) * 1000;
  };
  try {
    await run(warmUpItems);
    const costs: number[] = [];
    for (let job = 1; job <= jobs; job++) {
      const processorUs = await run(items);
      costs.push(processorUs);
      report(job, processorUs);
    }
    return { first: costs[0]!, last: costs.at(-1)! };
  } finally {
    await service.stop();
    await origin.stop();
  }
}
