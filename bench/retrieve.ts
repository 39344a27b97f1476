import type { Load } from './load.ts';
import { benchPages, region } from './support/pages.ts';
import { type BenchProgram, startBenchProgram } from './support/program.ts';
import { interleave, median } from './support/rounds.ts';
import { startService } from './support/service.ts';
import { processorMs } from './support/usage.ts';

/** Medians of the calls per second and of the server's CPU time per call in microseconds. */
export interface CallRate {
  callsPerSecond: number;
  processorUs: number;
}

/** Figures of a call and of plain Express sending the same bytes. */
export interface RetrieveResult {
  name: string;
  bytes: number;
  /** The complete service, which looks up the key, the job, and its batches, and signs links. */
  service: CallRate;
  /** The gateway with a fixed response behind it. */
  gateway: CallRate;
  bare: CallRate;
}

const connections = 16;
/** Batches of the job: three of up to 50 items. */
const items = 150;

/**
 * Compares the retrieve and download calls of a small completed job with Express 5 sending the same
 * bytes. The load generator is a separate process.
 */
export async function measureRetrieve(rounds: number, calls: number): Promise<RetrieveResult[]> {
  const origin = await startBenchProgram<number>('origin.ts', String(items));
  const origins = {
    mkta: { [region]: `http://127.0.0.1:${origin.firstMessage}`, requests_per_second: 10_000 },
  };
  const service = await startService({ origins });
  const load = await startBenchProgram('load.ts');
  const { job_id } = await service.rest.call('POST', '/v1/mkta/variant_sold_v1/submit', {
    country: region,
    items: benchPages(items).map(({ item_id, shop_id }) => ({ item_id, shop_id })),
  });
  await service.approve(String(job_id));
  const paths = ['retrieve', 'download'].map((name) => ({
    name,
    path: `/v1/mkta/variant_sold_v1/${name}/${job_id}`,
  }));
  while (!(await service.rest.call('GET', paths[1]!.path)).download_url)
    await new Promise((resolve) => setTimeout(resolve, 100));
  await origin.stop();

  const bodies: string[] = [];
  for (const { path } of paths) bodies.push(JSON.stringify(await service.rest.call('GET', path)));
  const responses = Object.fromEntries(paths.map(({ path }, index) => [path, bodies[index]!]));
  const bare = await startBenchProgram<number>('bare-express.ts', JSON.stringify(responses));
  const gateway = await startBenchProgram<number>('bare-gateway.ts', JSON.stringify(bodies));
  const results: RetrieveResult[] = [];
  try {
    for (const { name, path } of paths) {
      const measure = (url: string, pid: number) => () =>
        timed(load, pid, { url, path, apiKey: service.apiKey, calls, connections });
      const rates = await interleave(rounds, [
        measure(service.url, service.pid),
        measure(`http://127.0.0.1:${gateway.firstMessage}`, gateway.pid),
        measure(`http://127.0.0.1:${bare.firstMessage}`, bare.pid),
      ]);
      results.push({
        name,
        bytes: Buffer.byteLength(responses[path]!),
        service: middle(rates[0]!),
        gateway: middle(rates[1]!),
        bare: middle(rates[2]!),
      });
    }
  } finally {
    await load.stop();
    await bare.stop();
    await gateway.stop();
    await service.stop();
  }
  return results;
}

async function timed(load: BenchProgram, pid: number, what: Load): Promise<CallRate> {
  const used = processorMs(pid);
  const started = performance.now();
  await load.ask(what);
  const ms = performance.now() - started;
  return {
    callsPerSecond: (what.calls / ms) * 1000,
    processorUs: ((processorMs(pid) - used) / what.calls) * 1000,
  };
}

function middle(rates: readonly CallRate[]): CallRate {
  return {
    callsPerSecond: median(rates.map(({ callsPerSecond }) => callsPerSecond)),
    processorUs: median(rates.map(({ processorUs }) => processorUs)),
  };
}
