import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type BenchPage, benchPages, region } from './support/pages.ts';
import { startBenchProgram } from './support/program.ts';
import { interleave, median } from './support/rounds.ts';
import { type BenchService, type BenchServiceOptions, startService } from './support/service.ts';
import { processorMs } from './support/usage.ts';

/** Medians of a contender. */
export interface Throughput {
  itemsPerSecond: number;
  /** CPU time per item in microseconds of all processes of the contender. */
  processorUs: number;
}

/** Figures of a stack's worker pipeline and of the bare loop. */
export interface PipelineResult {
  pipeline: Throughput;
  bare: Throughput;
}

/** Maximum concurrent pages of both contenders. */
const concurrency = 32;

/**
 * Compares a variant-sold job, from its approval to the link of its merged file, with a loop that
 * fetches, parses, and writes the same pages with the same concurrency. Service, loop, and origin
 * are separate processes.
 */
export async function measurePipeline(
  rounds: number,
  items: number,
  options: Pick<BenchServiceOptions, 'engines'>,
): Promise<PipelineResult> {
  const folder = mkdtempSync(join(tmpdir(), 'gleaner-bare-'));
  const origin = await startBenchProgram<number>('origin.ts', String(items));
  const address = `http://127.0.0.1:${origin.firstMessage}`;
  const bare = await startBenchProgram(
    'bare-loop.ts',
    address,
    String(items),
    String(concurrency),
    join(folder, 'pages'),
  );
  const service = await startService({
    ...options,
    origins: { mkta: { [region]: address, concurrency, requests_per_second: 10_000 } },
  });
  try {
    const pages = benchPages(items);
    const [pipeline, loop] = await interleave(rounds, [
      () => runJob(service, pages),
      () => timed(items, [bare.pid], () => bare.ask('go')),
    ]);
    return { pipeline: middle(pipeline!), bare: middle(loop!) };
  } finally {
    await service.stop();
    await bare.stop();
    await origin.stop();
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Runs a job and measures it from the approval to the link of its file. */
export async function runJob(
  service: BenchService,
  pages: readonly BenchPage[],
): Promise<Throughput> {
  const { rest, approve, pids } = service;
  const jobId = await submitJob(service, pages);
  return timed(pages.length, pids, async () => {
    await approve(jobId);
    for (;;) {
      const job = await rest.call('GET', `/v1/mkta/variant_sold_v1/retrieve/${jobId}?wait=60s`);
      if (job.status === 'completed') return;
      if (job.status !== 'processing') throw new Error(`the job ended as ${job.status}`);
    }
  });
}

/** Submits a variant-sold job of these pages, which awaits approval, and returns its id. */
export async function submitJob(
  { rest }: BenchService,
  pages: readonly BenchPage[],
): Promise<string> {
  const { job_id } = await rest.call('POST', '/v1/mkta/variant_sold_v1/submit', {
    country: region,
    items: pages.map(({ item_id, shop_id }) => ({ item_id, shop_id })),
  });
  return String(job_id);
}

/**
 * Measures the rate and the processor time of a run over all threads and descendants of these
 * processes.
 */
export async function timed(
  items: number,
  pids: readonly number[],
  run: () => Promise<unknown>,
): Promise<Throughput> {
  const used = () => pids.reduce((sum, pid) => sum + processorMs(pid), 0);
  const before = used();
  const started = performance.now();
  await run();
  const ms = performance.now() - started;
  return { itemsPerSecond: (items / ms) * 1000, processorUs: ((used() - before) / items) * 1000 };
}

function middle(results: readonly Throughput[]): Throughput {
  return {
    itemsPerSecond: median(results.map(({ itemsPerSecond }) => itemsPerSecond)),
    processorUs: median(results.map(({ processorUs }) => processorUs)),
  };
}
