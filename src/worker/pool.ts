import { backOffMs } from '../base/back-off.ts';
import { newId } from '../base/id.ts';
import { Fault } from '../contract/fault.ts';
import type { JobContext } from '../jobs/context.ts';
import type { BatchReference } from '../store/batches.ts';
import { releaseBatch } from '../store/claims.ts';
import type { OriginMinute, ProcessReport } from '../store/operations.ts';
import { startWorkerProcess, type WorkerProcess } from './process.ts';
import type { WorkerSetup } from './protocol.ts';

/** Options for startWorkerPool(). */
export interface WorkerPoolOptions {
  /** Module run by worker processes. */
  entry: string;
  /** Number of worker processes, at least 1. */
  count: number;
  /** Heap limit of each process, in bytes. */
  memoryBytes: number;
  setup: Omit<WorkerSetup, 'index' | 'holder'>;
  context: Pick<JobContext, 'queue' | 'clock' | 'log' | 'changes' | 'metrics'> & {
    store: Pick<JobContext['store'], 'batches' | 'origins'>;
  };
  /** Receives the counts of requests that workers sent to origins. */
  countRequests(rows: readonly OriginMinute[]): void;
}

/** Worker processes by what they do. `stopped`: not started yet, or dead and about to be restarted. */
export interface WorkerSlots {
  busy: number;
  idle: number;
  stopped: number;
}

export interface WorkerPoolStats
  extends Pick<ProcessReport, 'workers' | 'batches' | 'unitsDone' | 'memoryBytes'> {
  slots: WorkerSlots;
}

/** A pool of worker processes that restarts processes when they die. */
export interface WorkerPool {
  stats(): WorkerPoolStats;
  /** Stops every worker and releases its batches. */
  stop(): Promise<void>;
}

/**
 * Delay before a dead worker is restarted. Doubles with each death up to the maximum. After the first part,
 * the connections of the process and its browser are closed, and its permits are free.
 */
const pause = { firstMs: 500, maxMs: 10_000 };
/** A worker that ran this long resets the delay. */
const steadyMs = 60_000;

/** A slot of the pool: a worker process, or the delay before the next one. */
interface Slot {
  process: WorkerProcess | null;
  memoryBytes: number;
}

/**
 * Starts worker processes, and restarts a process that dies after a delay. The batches of a dead worker are
 * released and republished immediately (docs/decisions/0001-worker-processes.md). Their claims count as
 * claims without progress, so that a page that kills its workers is abandoned
 * (src/jobs/steps/read-batch.ts).
 */
export function startWorkerPool(options: WorkerPoolOptions): WorkerPool {
  const { context, count } = options;
  const { clock, log, changes } = context;
  const stopping = new AbortController();
  const slots: Slot[] = Array.from({ length: count }, () => ({ process: null, memoryBytes: 0 }));
  let unitsDone = 0;

  const launch = (slot: Slot, index: number, holder: string) =>
    startWorkerProcess({
      entry: options.entry,
      memoryBytes: options.memoryBytes,
      setup: { ...options.setup, index, holder },
      queue: context.queue,
      clock,
      changed: (jobId) => changes.notify(jobId),
      report: (report) => {
        slot.memoryBytes = report.memoryBytes;
        unitsDone += report.unitsDone;
        if (report.metrics) context.metrics.addReport(report.metrics);
        if (report.requests.length > 0) options.countRequests(report.requests);
      },
    });

  const keep = async (slot: Slot, index: number): Promise<void> => {
    let deaths = 0;
    while (!stopping.signal.aborted) {
      const since = clock.now();
      const holder = newId();
      const worker = launch(slot, index, holder);
      slot.process = worker;
      worker.started.then(
        () => log.info({ worker: index, workerPid: worker.pid }, 'worker started'),
        () => {},
      );
      const { code, signal } = await worker.ended;
      slot.process = null;
      slot.memoryBytes = 0;
      if (stopping.signal.aborted) return;
      deaths = clock.now() - since >= steadyMs ? 1 : deaths + 1;
      const pauseMs = backOffMs(pause, deaths, 0);
      const batches = worker.inFlight.size;
      log.error({ worker: index, workerPid: worker.pid, code, signal, batches, pauseMs }, 'worker died');
      for (const message of worker.inFlight.values()) await requeue(context, message);
      await clock.sleep(pause.firstMs, stopping.signal).catch(() => {});
      await releasePermits(context, holder);
      await clock.sleep(pauseMs - pause.firstMs, stopping.signal).catch(() => {});
    }
  };
  const kept = slots.map(keep);

  return {
    stats() {
      const running = slots.filter((slot) => slot.process !== null);
      const busy = running.filter((slot) => slot.process!.inFlight.size > 0).length;
      return {
        workers: running.length,
        slots: { busy, idle: running.length - busy, stopped: count - running.length },
        batches: running.reduce((sum, slot) => sum + slot.process!.inFlight.size, 0),
        unitsDone,
        memoryBytes: running.reduce((sum, slot) => sum + slot.memoryBytes, 0),
      };
    },
    async stop() {
      stopping.abort(new Error('the workers are stopping'));
      await Promise.all(slots.map((slot) => slot.process?.stop()));
      await Promise.all(kept);
    },
  };
}

/** Releases the permits of origins that a dead worker held. If this fails, they expire. */
async function releasePermits({ store, log }: WorkerPoolOptions['context'], holder: string): Promise<void> {
  try {
    await store.origins.release(holder);
  } catch (error) {
    log.warn({ error: Fault.from(error).message }, 'permits not released');
  }
}

/**
 * Releases and republishes a batch claimed by a dead worker. Leaves a batch that was not claimed or has ended
 * to the queue. If this fails, the sweep republishes the batch once its claim has expired.
 */
async function requeue(
  { store, queue, clock, log }: WorkerPoolOptions['context'],
  message: BatchReference,
): Promise<void> {
  const { jobId, batchId } = message;
  const attempt = message.attempt + 1;
  try {
    if (!(await releaseBatch(store, { id: batchId, attempt }, clock.now(), { failed: true }))) return;
    await queue.publish({ ...message, attempt });
    log.warn({ jobId, batchId, attempt }, 'batch requeued');
  } catch (error) {
    log.warn({ batchId, attempt, error: Fault.from(error).message }, 'batch not requeued');
  }
}
