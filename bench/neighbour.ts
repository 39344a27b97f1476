import { benchPages, region } from './support/pages.ts';
import { startBenchProgram } from './support/program.ts';
import { median, percentile } from './support/rounds.ts';
import { type BenchService, startService } from './support/service.ts';
import { forgetPeak, memory } from './support/usage.ts';

/** Latency of single tasks in milliseconds. */
export interface TaskTimes {
  tasks: number;
  median: number;
  p95: number;
}

/**
 * Latency of single tasks on an idle service and during a large job, and the memory of all
 * processes.
 */
export interface NeighbourResult {
  idle: TaskTimes;
  busy: TaskTimes;
  /** Items of the job per second while the single tasks ran. */
  itemsPerSecond: number;
  /** Resident memory in bytes before the first task. */
  idleBytes: number;
  /** Resident memory in bytes of the API process before the first task. */
  apiIdleBytes: number;
  /** Sum of the processes' peak resident memory during the job. */
  peakBytes: number;
  /** Peak of the process that serves the API. */
  apiPeakBytes: number;
  /** Highest sum of proportional set sizes during the job, which counts shared pages once. */
  peakProportionalBytes: number;
}

const distinct = 4_000;
const concurrency = 32;
const idleTasks = 200;
const pauseMs = 20;

/**
 * Measures consecutive get_pc tasks from the submission to the retrieve response with the record,
 * first on an idle service, then during a variant-sold job of `items` items on the same origin.
 */
export async function measureNeighbour(items: number): Promise<NeighbourResult> {
  const origin = await startBenchProgram<number>('origin.ts', String(distinct));
  const address = `http://127.0.0.1:${origin.firstMessage}`;
  const service = await startService({
    origins: { mkta: { [region]: address, concurrency, requests_per_second: 10_000 } },
  });
  const { pid, rest } = service;
  try {
    await pause(3_000);
    const { now: idleBytes, own } = memory(pid);
    const targets = benchPages(idleTasks).map(({ item_id, shop_id }) => ({
      region,
      item_id,
      shop_id,
    }));
    await runTasks(service, targets.slice(0, 50), () => false);
    const idle = await runTasks(service, targets, () => false);

    const pages = benchPages(distinct).map(({ item_id, shop_id }) => ({ item_id, shop_id }));
    const { job_id } = await rest.call('POST', '/v1/mkta/variant_sold_v1/submit', {
      country: region,
      items: Array.from({ length: items }, (_, index) => pages[index % distinct]!),
    });
    forgetPeak(pid);
    const download = `/v1/mkta/variant_sold_v1/download/${job_id}`;
    let over = false;
    let peakProportionalBytes = 0;
    const began = performance.now();
    await service.approve(String(job_id));
    const watching = (async () => {
      while (!over) {
        const job = await rest.call('GET', download);
        peakProportionalBytes = Math.max(peakProportionalBytes, memory(pid).proportional);
        over = Boolean(job.download_url);
        if (!over) await pause(200);
      }
      return performance.now() - began;
    })();
    await pause(500);
    const busy = await runTasks(service, targets, () => over);
    const jobMs = await watching;
    const after = memory(pid);
    return {
      idle,
      busy,
      itemsPerSecond: (items / jobMs) * 1000,
      idleBytes,
      apiIdleBytes: own.now,
      peakBytes: after.peak,
      apiPeakBytes: after.own.peak,
      peakProportionalBytes,
    };
  } finally {
    await service.stop();
    await origin.stop();
  }
}

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

/** Runs tasks one after the other until all have run or `over` returns true. */
async function runTasks(
  { rest }: BenchService,
  targets: readonly object[],
  over: () => boolean,
): Promise<TaskTimes> {
  const times: number[] = [];
  for (const target of targets) {
    if (over()) break;
    const began = performance.now();
    const { task_id } = await rest.call('POST', '/v1/mkta/get_pc/submit', target);
    const task = await rest.call('GET', `/v1/mkta/get_pc/retrieve/${task_id}?wait=60s`);
    times.push(performance.now() - began);
    if (task.status !== 'completed')
      throw new Error(`get_pc answered ${JSON.stringify(task).slice(0, 200)}`);
    await pause(pauseMs);
  }
  return { tasks: times.length, median: median(times), p95: percentile(times, 95) };
}
