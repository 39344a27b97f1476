import { Fault } from '../base/fault.ts';
import { type JobContext, leaseMs } from '../jobs/context.ts';
import type { BatchReference, Outcome } from '../store/documents.ts';
import type { WorkerProcess } from './process.ts';

/** Options for createQuarantine(). */
export interface QuarantineOptions {
  /** Starts a process that works only the batches that it is handed, a page at a time. */
  launch(): WorkerProcess;
  context: Pick<JobContext, 'store' | 'clock' | 'log'>;
}

/** Batches whose workers died repeatedly. */
export interface Quarantine {
  /** Works a released batch in a process of its own. */
  admit(message: BatchReference): void;
  /** The process of the quarantine, while there is one. */
  readonly process: WorkerProcess | null;
  stop(): Promise<void>;
}

/** Outcome of a unit whose page ends the process that reads it. */
const fatal: Outcome = {
  status: 'FAILED',
  code: 'internal',
  message: 'Reading this page ended the worker process, for example because it ran out of memory.',
};

/**
 * Creates a quarantine. Its process reads the batches one after the other and one page at a time, so that
 * the page at fault is known when the process dies: that unit fails, and the rest of the batch goes on.
 */
export function createQuarantine({ launch, context }: QuarantineOptions): Quarantine {
  const { log } = context;
  const waiting: BatchReference[] = [];
  let worker: WorkerProcess | null = null;
  let running: Promise<void> | null = null;
  let stopped = false;

  /** Works one batch; gives its next message when the process died over it. */
  const attempt = async (message: BatchReference): Promise<BatchReference | null> => {
    worker ??= launch();
    try {
      await worker.workAlone(message);
      return null;
    } catch (error) {
      if (stopped) return null;
      const { batchId } = message;
      const { reading } = worker;
      log.error(
        { batchId, unit: reading?.index, error: Fault.from(error).message },
        'batch ended its worker',
      );
      await worker.stop();
      worker = null;
      return reading?.batchId === batchId ? failUnit(context, message, reading.index) : null;
    }
  };
  const run = async () => {
    for (let next = waiting.shift(); next && !stopped; next = waiting.shift()) {
      try {
        const again = await attempt(next);
        if (again) waiting.unshift(again);
      } catch (error) {
        // The sweep republishes the batch.
        log.warn({ batchId: next.batchId, error: Fault.from(error).message }, 'batch left to the sweep');
      }
    }
    await worker?.stop();
    worker = null;
    running = null;
  };

  return {
    get process() {
      return worker;
    },
    admit(message) {
      waiting.push(message);
      running ??= run();
    },
    async stop() {
      stopped = true;
      await worker?.stop();
      await running;
    },
  };
}

/** Fails the unit that ended a worker; gives the batch's next message, null when someone else has the batch. */
async function failUnit(
  { store, clock }: Pick<JobContext, 'store' | 'clock'>,
  message: BatchReference,
  index: number,
): Promise<BatchReference | null> {
  const { batchId } = message;
  const now = clock.now();
  const claimed = message.attempt + 1;
  if (!(await store.releaseBatch(batchId, claimed, now))) return null;
  const batch = await store.claimBatch(batchId, claimed, now, now + leaseMs);
  if (batch === null) return null;
  await store.recordOutcomes(batchId, batch.attempt, { [index]: fatal }, []);
  await store.releaseBatch(batchId, batch.attempt, now);
  return { ...message, attempt: batch.attempt };
}
