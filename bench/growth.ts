import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { endOfJob, startJob } from './support/jobs.ts';
import { type BenchPage, benchPages, region } from './support/pages.ts';
import { startBenchProgram } from './support/program.ts';
import type { RestClient } from './support/rest.ts';
import { type BenchService, startService } from './support/service.ts';
import { processorMs } from './support/usage.ts';

/** CPU time per item of the jobs, in microseconds. */
export interface GrowthResult {
  /** Of the first and of the last of the consecutive jobs. */
  first: number;
  last: number;
  /** Of another job beside the schedules. */
  beside: number;
  /** Of jobs of as many users at once. */
  users: number;
  /** CPU time per second of the service with the schedules while no job runs, in milliseconds. */
  idleMs: number;
}

/** Sizes of the growth. */
export interface GrowthSizes {
  /** Consecutive jobs. */
  jobs: number;
  /** Items of each of them, and of the jobs of all users together. */
  items: number;
  /** Schedules whose time has not come. */
  schedules: number;
  users: number;
}

const distinct = 4_000;
const warmUpItems = 4_000;
/** Schedules of an account, and those that are created at the same time. */
const schedulesOfUser = 100;
const idleSeconds = 10;
/** Interval at which each user asks for the job, so that 200 of them do not measure these calls. */
const pollMs = 1_000;

/**
 * Runs variant-sold jobs one after the other on one embedded store, which keeps every unit and outcome; then
 * one beside schedules, and one of each user at once. Removes result files after each job, so that the disk
 * does not fill up.
 */
export async function measureGrowth(
  { jobs, items, schedules, users }: GrowthSizes,
  report: (job: number, processorUs: number) => void,
): Promise<GrowthResult> {
  const origin = await startBenchProgram<number>('origin.ts', String(distinct));
  const address = `http://127.0.0.1:${origin.firstMessage}`;
  const service = await startService({
    origins: { mkta: { [region]: address, concurrency: 32, requests_per_second: 10_000 } },
  });
  const pages = benchPages(distinct);
  const run = async (count: number, clients = [service.rest]) => {
    const each = Math.ceil(count / clients.length);
    const before = processorMs(service.pid);
    const runOne = async (client: RestClient) => {
      const jobId = await startJob(service, client, pages, each);
      await endOfJob(client, jobId, pollMs);
      return jobId;
    };
    const jobIds = await Promise.all(clients.map(runOne));
    const used = processorMs(service.pid) - before;
    for (const jobId of jobIds) rmSync(join(service.dataDir, 'results', jobId), { recursive: true });
    return (used / (each * clients.length)) * 1000;
  };
  try {
    await run(warmUpItems);
    const costs: number[] = [];
    for (let job = 1; job <= jobs; job++) {
      const processorUs = await run(items);
      costs.push(processorUs);
      report(job, processorUs);
    }
    await addSchedules(service, schedules, pages[0]!);
    const idleBefore = processorMs(service.pid);
    await setTimeout(idleSeconds * 1000);
    const idleMs = (processorMs(service.pid) - idleBefore) / idleSeconds;
    const beside = await run(items);
    const clients: RestClient[] = [];
    while (clients.length < users) clients.push(await service.addUser());
    return { first: costs[0]!, last: costs.at(-1)!, beside, idleMs, users: await run(items, clients) };
  } finally {
    await service.stop();
    await origin.stop();
  }
}

/** Creates schedules that start in a year, 100 per user. */
async function addSchedules(service: BenchService, count: number, page: BenchPage): Promise<void> {
  const { item_id, shop_id } = page;
  const schedule = {
    name: 'bench',
    market: 'mkta',
    kind: 'variant_sold',
    cron: '0 8 * * *',
    time_zone: 'UTC',
    start_at: new Date(Date.now() + 365 * 24 * 3_600_000).toISOString(),
    request: { country: region, items: [{ item_id, shop_id }] },
  };
  for (let left = count; left > 0; left -= schedulesOfUser) {
    const client = await service.addUser();
    const creations = Array.from({ length: Math.min(left, schedulesOfUser) }, () =>
      client.call('POST', '/v1/schedules', schedule),
    );
    await Promise.all(creations);
  }
}
