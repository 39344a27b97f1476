import { extname } from 'node:path';
import { markets } from '../markets/list.ts';
import { sweepForever, sweepMs } from '../sweep/sweep.ts';
import { type PoolTally, startWorkerPool } from '../worker/pool.ts';
import { startWorker } from '../worker/worker.ts';
import type { Program } from './compose.ts';

/** Page work of this process, in worker processes or in its own thread. */
export interface Working {
  tally(): PoolTally;
  stop(): Promise<void>;
}

/** Starts page work and the sweep, where `GLEANER_WORKERS` says. */
export async function startWorking(
  program: Program,
  role: string,
  publicUrl: () => string,
): Promise<Working> {
  const { config, context, tally } = program;
  if (config.workers > 0) {
    return startWorkerPool({
      entry: new URL(`./page-worker${extname(import.meta.url)}`, import.meta.url),
      count: config.workers,
      memoryBytes: config.workerMemoryBytes,
      setup: { config, role, publicUrl: publicUrl() },
      context,
      countRequests: tally.putBack,
    });
  }
  const stopping = new AbortController();
  const worker = await startWorker(context, markets);
  const sweeping = sweepForever(context, sweepMs, stopping.signal);
  return {
    tally: () => ({ workers: 0, memoryBytes: 0, ...worker.tally }),
    async stop() {
      stopping.abort(new Error('the service is stopping'));
      await worker.stop();
      await sweeping;
    },
  };
}
