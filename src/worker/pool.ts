import { Fault } from '../contract/fault.ts';
import type { JobContext } from '../jobs/context.ts';
import type { BatchReference } from '../store/documents.ts';
import type { OriginMinute } from '../store/operations.ts';
import { startWorkerProcess, type WorkerProcess } from './process.ts';
import type { WorkerSetup } from './protocol.ts';

/** Options for startWorkerPool(). */
export interface WorkerPoolOptions {
  /** Module that worker processes run. */
  entry: string;
  /** Number of worker processes, at least 1. */
  count: number;
  /** Heap limit of each in bytes. */
  memoryBytes: number;
  setup: Omit<WorkerSetup, 'index'>;
  context: Pick<JobContext, 'store' | 'queue' | 'clock' | 'log' | 'changes'>;
  /** Receives what the workers asked of origins. */
  countRequests(rows: readonly OriginMinute[]): void;
}

/** What the workers of a pool do. */
export interface PoolTally {
  /** Worker processes that run. */
  workers: number;
  /** Batches in hand. */
  batches: number;
  /** Units ended since the start of the pool. */
  unitsDone: number;
  /** Resident memory of all worker processes. */
  memoryBytes: number;
}

/** Worker processes that are kept running. */
export interface WorkerPool {
  tally(): PoolTally;
  /** Stops every worker: batches are handed back. */
  stop(): Promise<void>;
}

/** Pause before a worker that died is started again: doubled by each death, up to the maximum. */
const firstPauseMs = 500;
const maxPauseMs = 10_000;
/** A worker that ran for this long starts over with the first pause. */
const steadyMs = 60_000;

/** A place in the pool: a worker process, or the pause before the next one. */
interface Slot {
  process: WorkerProcess | null;
  memoryBytes: number;
}

/**
 * Starts worker processes and keeps their number. One that dies is started again after a pause, and the
 * batches that it had in hand are released and published at once (docs/decisions/0001). Those claims count as
 * claims without progress, so that a page that ends its workers is abandoned (src/jobs/suspect.ts).
 */
export function startWorkerPool(options: WorkerPoolOptions): WorkerPool {
  const { context, count } = options;
  const { clock, log, changes } = context;
  const stopping = new AbortController();
  const slots: Slot[] = Array.from({ length: count }, () => ({ process: null, memoryBytes: 0 }));
  let unitsDone = 0;

  const launch = (slot: Slot, index: number) =>
    startWorkerProcess({
      entry: options.entry,
      memoryBytes: options.memoryBytes,
      setup: { ...options.setup, index },
      queue: context.queue,
      clock,
      changed: (jobId) => changes.notify(jobId),
      report: (report) => {
        slot.memoryBytes = report.memoryBytes;
        unitsDone += report.unitsDone;
        if (report.requests.length > 0) options.countRequests(report.requests);
      },
    });

  const keep = async (slot: Slot, index: number): Promise<void> => {
    let pauseMs = firstPauseMs;
    while (!stopping.signal.aborted) {
      const since = clock.now();
      const worker = launch(slot, index);
      slot.process = worker;
      worker.started.then(
        () => log.info({ worker: index, workerPid: worker.pid }, 'worker started'),
        () => {},
      );
      const { code, signal } = await worker.ended;
      slot.process = null;
      slot.memoryBytes = 0;
      if (stopping.signal.aborted) return;
      if (clock.now() - since >= steadyMs) pauseMs = firstPauseMs;
      const batches = worker.hands.size;
      log.error({ worker: index, workerPid: worker.pid, code, signal, batches, pauseMs }, 'worker died');
      for (const message of worker.hands.values()) await requeue(context, message);
      await clock.sleep(pauseMs, stopping.signal).catch(() => {});
      pauseMs = Math.min(pauseMs * 2, maxPauseMs);
    }
  };
  const kept = slots.map(keep);

  return {
    tally() {
      const running = slots.filter((slot) => slot.process !== null);
      return {
        workers: running.length,
        batches: running.reduce((sum, slot) => sum + slot.process!.hands.size, 0),
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

/**
 * Releases a batch that a dead worker had claimed, and publishes it. One that was not claimed, or had ended, is left
 * to the queue. If this fails, the sweep republishes the batch once the claim has expired.
 */
async function requeue(
  { store, queue, clock, log }: WorkerPoolOptions['context'],
  message: BatchReference,
): Promise<void> {
  const { jobId, batchId } = message;
  const attempt = message.attempt + 1;
  try {
    if (!(await store.releaseBatch(batchId, attempt, clock.now(), true))) return;
    await queue.publish({ ...message, attempt });
    log.warn({ jobId, batchId, attempt }, 'batch requeued');
  } catch (error) {
    log.warn({ batchId, attempt, error: Fault.from(error).message }, 'batch not requeued');
  }
}
