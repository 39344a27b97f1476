import { markets } from '../markets/list.ts';
import { workingStates } from '../store/job-states.ts';
import { startWorkerPool, type WorkerPool, type WorkerPoolStats } from '../worker/pool.ts';
import type { Program } from './compose.ts';
import { programs } from './programs.ts';
import { exportsMetrics } from './telemetry.ts';

/** State without workers. */
const idle: WorkerPoolStats = {
  workers: 0,
  slots: { busy: 0, idle: 0, stopped: 0 },
  batches: 0,
  unitsDone: 0,
  memoryBytes: 0,
};

/**
 * Starts page work, in worker processes or in the thread of this process, as `GLEANER_WORKERS`
 * says.
 */
export async function startPageWork(
  program: Program,
  role: string,
  publicUrl: () => string,
): Promise<WorkerPool> {
  const { config, clock, context, requestCounter } = program;
  if (config.workers === 0) return workInThread(context);
  const start = () =>
    startWorkerPool({
      entry: programs.pageWorker,
      count: config.workers,
      memoryBytes: config.limits.workerMemoryBytes,
      setup: () => ({
        config,
        role,
        publicUrl: publicUrl(),
        measures: exportsMetrics(config),
        clockOrigin: clock.origin(),
      }),
      context,
      countRequests: requestCounter.putBack,
    });
  // Only this process uses the embedded queue, so no other can publish the first batch.
  if (
    config.natsUrl !== null ||
    (await context.store.jobs.count({ state: { in: workingStates } }, 1)) > 0
  )
    return start();
  return startWithFirstBatch(program, start);
}

/** Processes batches in this process's own thread. */
async function workInThread(context: Program['context']): Promise<WorkerPool> {
  const { startWorker } = await import('../worker/worker.ts');
  const worker = await startWorker(context, markets);
  return {
    stats: () => {
      const busy = worker.stats.batches > 0 ? 1 : 0;
      return {
        workers: 0,
        memoryBytes: 0,
        slots: { busy, idle: 1 - busy, stopped: 0 },
        ...worker.stats,
      };
    },
    stop: () => worker.stop(),
  };
}

/** Starts worker processes when the first batch is published. */
function startWithFirstBatch({ config, published }: Program, start: () => WorkerPool): WorkerPool {
  let pool: WorkerPool | null = null;
  let isStopped = false;
  void published.then(() => {
    if (!isStopped) pool = start();
  });
  return {
    stats: () => pool?.stats() ?? { ...idle, slots: { busy: 0, idle: 0, stopped: config.workers } },
    async stop() {
      isStopped = true;
      await pool?.stop();
    },
  };
}
