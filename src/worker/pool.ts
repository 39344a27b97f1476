import { backOffMs } from '../base/back-off.ts';
import { newId } from '../base/id.ts';
import { Fault } from '../contract/fault.ts';
import type { JobContext } from '../jobs/context.ts';
import type { BatchReference } from '../store/batches.ts';
import { type Claim, releaseBatch, releaseStalled } from '../store/claims.ts';
import type { OriginMinute, ProcessReport } from '../store/operations.ts';
import { startWorkerProcess, type WorkerEnd, type WorkerProcess } from './process.ts';
import type { WorkerSetup } from './protocol.ts';
import { createSuspectReader } from './suspect-reader.ts';

/** Options for startWorkerPool(). */
export interface WorkerPoolOptions {
  /** Module run by worker processes. */
  entry: string;
  /** Number of worker processes, at least 1. */
  count: number;
  /** Heap limit of each process, in bytes. */
  memoryBytes: number;
  /** Returns the configuration of a process that starts now. */
  setup(): Omit<WorkerSetup, 'index' | 'holder' | 'readsSuspects'>;
  context: Pick<JobContext, 'queue' | 'clock' | 'log' | 'changes' | 'metrics'> & {
    store: Pick<JobContext['store'], 'batches' | 'origins'>;
  };
  /** Receives the counts of requests that workers sent to origins. */
  countRequests(rows: readonly OriginMinute[]): void;
}

/**
 * Worker processes by their state. `stopped`: not started yet, or dead and about to be restarted.
 */
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
 * Delay before a dead worker is restarted. Doubles with each death up to the maximum. After the
 * initial delay, the connections and the browser of the process are closed, and its permits are
 * free.
 */
const pause = { firstMs: 500, maxMs: 10_000 };
/** A worker that ran this long resets the delay. */
const steadyMs = 60_000;

/** A slot of the pool: a worker process, or the delay before the next one. */
interface Slot {
  process: WorkerProcess | null;
  memoryBytes: number;
  /** Units completed by all processes of the slot. */
  unitsDone: number;
}

const emptySlot: Slot = { process: null, memoryBytes: 0, unitsDone: 0 };

/**
 * Starts worker processes, and restarts a process that dies after a delay. The batches of a dead
 * worker are released and republished immediately (docs/decisions/0001-worker-processes.md). Their
 * claims count as claims without progress, so that a page that kills its workers is abandoned
 * (src/jobs/steps/read-batch.ts). A separate process is started to read such batches.
 */
export function startWorkerPool(options: WorkerPoolOptions): WorkerPool {
  const { context, count } = options;
  const stopping = new AbortController();
  const slots: Slot[] = Array.from({ length: count }, () => ({ ...emptySlot }));
  const suspectSlot: Slot = { ...emptySlot };
  const suspects = createSuspectReader({
    clock: context.clock,
    start: () => launch(options, suspectSlot, { index: count, readsSuspects: true }, () => {}),
    release: async (worker) => {
      await releaseClaims(context, worker, { worker: count });
      await releasePermits(context, worker.holder);
    },
    publish: async (message) => {
      await context.queue
        .publish(message)
        .catch((error) => reportUnpublished(context, message, error));
    },
  });
  const supervised = slots.map((slot, index) =>
    keepRunning(context, stopping.signal, index, () =>
      launch(options, slot, { index, readsSuspects: false }, suspects.add),
    ),
  );

  return {
    stats() {
      const running = slots.filter((slot) => slot.process !== null);
      const busy = running.filter((slot) => slot.process!.inFlight.size > 0).length;
      return {
        workers: running.length,
        slots: { busy, idle: running.length - busy, stopped: count - running.length },
        batches: running.reduce((sum, slot) => sum + slot.process!.inFlight.size, 0),
        unitsDone: slots.reduce((sum, slot) => sum + slot.unitsDone, suspectSlot.unitsDone),
        memoryBytes: running.reduce((sum, slot) => sum + slot.memoryBytes, suspectSlot.memoryBytes),
      };
    },
    async stop() {
      stopping.abort(new Error('the workers are stopping'));
      await Promise.all([suspects.stop(), ...slots.map((slot) => slot.process?.stop())]);
      await Promise.all(supervised);
    },
  };
}

/** Starts the worker process of a slot. */
function launch(
  options: WorkerPoolOptions,
  slot: Slot,
  { index, readsSuspects }: Pick<WorkerSetup, 'index' | 'readsSuspects'>,
  suspect: (message: BatchReference) => void,
): WorkerProcess {
  const { context } = options;
  const worker = startWorkerProcess({
    entry: options.entry,
    memoryBytes: options.memoryBytes,
    setup: {
      ...options.setup(),
      index,
      readsSuspects,
      holder: newId(),
    },
    queue: context.queue,
    clock: context.clock,
    changed: (jobId) => context.changes.notify(jobId),
    suspect,
    report: (report) => {
      slot.memoryBytes = report.memoryBytes;
      slot.unitsDone += report.unitsDone;
      if (report.metrics) context.metrics.addReport(report.metrics);
      if (report.requests.length > 0) options.countRequests(report.requests);
    },
  });
  slot.process = worker;
  worker.started.then(
    () =>
      context.log.info({ worker: index, workerPid: worker.pid, readsSuspects }, 'worker started'),
    () => {},
  );
  void worker.ended.then(() => {
    slot.process = null;
    slot.memoryBytes = 0;
  });
  return worker;
}

/** Starts a worker process whenever the one before has died, until the signal is aborted. */
async function keepRunning(
  context: WorkerPoolOptions['context'],
  signal: AbortSignal,
  index: number,
  start: () => WorkerProcess,
): Promise<void> {
  const { clock } = context;
  let deaths = 0;
  while (!signal.aborted) {
    const since = clock.steady();
    const worker = start();
    await worker.ended;
    if (signal.aborted) return;
    deaths = clock.steady() - since >= steadyMs ? 1 : deaths + 1;
    const pauseMs = backOffMs(pause, deaths, 0);
    await releaseClaims(context, worker, { worker: index, pauseMs });
    await clock.sleep(pause.firstMs, signal).catch(() => {});
    await releasePermits(context, worker.holder);
    await clock.sleep(pauseMs - pause.firstMs, signal).catch(() => {});
  }
}

/** Releases the permits of origins that a dead worker held. If this fails, they expire. */
async function releasePermits(
  { store, log }: WorkerPoolOptions['context'],
  holder: string,
): Promise<void> {
  try {
    await store.origins.release(holder);
  } catch (error) {
    log.warn({ error: Fault.from(error).message }, 'permits not released');
  }
}

/**
 * Logs the death of a worker with `about`, and releases and republishes the batches that it had
 * claimed.
 */
async function releaseClaims(
  context: WorkerPoolOptions['context'],
  worker: WorkerProcess,
  about: { worker: number; pauseMs?: number },
): Promise<void> {
  const { log } = context;
  const { pid: workerPid, inFlight, claims } = worker;
  const { code, signal, stall, isSilent } = await worker.ended;
  if (stall) log.error({ worker: about.worker, workerPid, ...stall.unit }, 'worker stalled');
  log.error(
    {
      ...about,
      workerPid,
      code,
      signal,
      batches: inFlight.size,
    },
    'worker died',
  );
  for (const message of inFlight.values()) {
    const attempt = claims.get(message.batchId);
    // A batch that was not claimed is left to the queue.
    if (attempt !== undefined) await requeue(context, message, attempt, { stall, isSilent });
  }
}

/**
 * Releases a batch claimed by a dead worker. If the worker stalled on a unit, only the batch of
 * that unit has failed. A silent worker may have been frozen, which is no evidence against its
 * batches. Returns false if the batch has ended, or another worker has claimed it since.
 */
async function release(
  { store, clock }: WorkerPoolOptions['context'],
  claim: Claim,
  { stall, isSilent }: Pick<WorkerEnd, 'stall' | 'isSilent'>,
): Promise<boolean> {
  const now = clock.steady();
  if (isSilent) return releaseBatch(store, claim, now, { unseen: true });
  const unit = stall?.unit;
  if (!unit) return releaseBatch(store, claim, now, { failed: true });
  const isCause = unit.batchId === claim.id && unit.attempt === claim.attempt;
  if (isCause) return releaseStalled(store, claim, unit.index, now);
  return releaseBatch(store, claim, now, { expired: true });
}

/**
 * Releases and republishes a batch claimed by a dead worker. If this fails, the sweep republishes
 * the batch once its claim has expired.
 */
async function requeue(
  context: WorkerPoolOptions['context'],
  message: BatchReference,
  attempt: number,
  end: Pick<WorkerEnd, 'stall' | 'isSilent'>,
): Promise<void> {
  const { queue, log } = context;
  const { jobId, batchId } = message;
  try {
    if (!(await release(context, { id: batchId, jobId, attempt }, end))) return;
    await queue.publish({ ...message, attempt });
    log.warn({ jobId, batchId, attempt }, 'batch requeued');
  } catch (error) {
    reportUnpublished(context, { ...message, attempt }, error);
  }
}

function reportUnpublished(
  { log }: WorkerPoolOptions['context'],
  { batchId, attempt }: BatchReference,
  error: unknown,
): void {
  log.warn({ batchId, attempt, error: Fault.from(error).message }, 'batch not requeued');
}
