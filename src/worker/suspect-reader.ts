import { once } from 'node:events';
import type { Clock } from '../base/clock.ts';
import type { BatchReference } from '../store/batches.ts';
import type { WorkerProcess } from './process.ts';

/** Options for createSuspectReader(). */
interface SuspectReaderOptions {
  clock: Clock;
  /** Starts the process. */
  start(): WorkerProcess;
  /** Releases the batches of the process, which has died. */
  release(process: WorkerProcess): Promise<void>;
  /** Publishes a batch that was not read. */
  publish(message: BatchReference): Promise<void>;
}

/** Reader of batches whose pages may end the process that reads them. */
export interface SuspectReader {
  /**
   * Adds a batch to be read after the earlier ones. A later attempt at a batch replaces an earlier
   * one.
   */
  add(message: BatchReference): void;
  stop(): Promise<void>;
}

/** Time without batches after which the process is stopped. */
const idleMs = 10_000;
/** Delay before another process is started, or an unread batch is published. */
const retryMs = 500;

/**
 * Creates a reader of suspect batches. It starts a process when the first batch is added, so that
 * the other workers read no batch that may end them. The process reads one batch at a time: with
 * two, either could be the cause of a death.
 */
export function createSuspectReader(options: SuspectReaderOptions): SuspectReader {
  const { clock } = options;
  const pending = new Map<string, BatchReference>();
  const stopping = new AbortController();
  const { signal } = stopping;
  const added = new EventTarget();
  let worker: WorkerProcess | null = null;
  let loop: Promise<void> | null = null;

  /** Starts the process, and releases its batches when it dies. */
  const start = (): WorkerProcess => {
    const started = options.start();
    worker = started;
    void started.ended.then(async () => {
      if (worker !== started) return;
      worker = null;
      if (!signal.aborted) await options.release(started);
    });
    return started;
  };
  const stopWorker = async () => {
    const idle = worker;
    worker = null;
    await idle?.stop();
  };
  const readNext = async (message: BatchReference) => {
    const reader = worker ?? start();
    try {
      await reader.started;
      await reader.read(message);
    } catch {
      await clock.sleep(retryMs, signal);
      // A batch in progress at the end of the process is released and published with its claims.
      const wasRead = [...reader.inFlight.values()].some(
        ({ batchId }) => batchId === message.batchId,
      );
      if (!wasRead) await options.publish(message);
    }
  };
  const readAll = async () => {
    while (!signal.aborted) {
      const [message] = pending.values();
      if (message) {
        pending.delete(message.batchId);
        await readNext(message);
        continue;
      }
      const idle = new AbortController();
      const next = once(added, 'batch', { signal: idle.signal }).catch(() => {});
      await Promise.race([next, clock.sleep(idleMs, signal)]);
      idle.abort();
      if (pending.size === 0) break;
    }
    await stopWorker();
  };

  return {
    add(message) {
      pending.set(message.batchId, message);
      added.dispatchEvent(new Event('batch'));
      const restart = () => {
        loop = null;
        if (pending.size > 0 && !signal.aborted) begin();
      };
      const begin = () => {
        loop = readAll()
          .catch(() => {})
          .then(restart);
      };
      if (loop === null && !signal.aborted) begin();
    },
    async stop() {
      stopping.abort(new Error('the workers are stopping'));
      await stopWorker();
      await loop;
    },
  };
}
