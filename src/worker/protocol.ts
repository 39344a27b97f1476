import type { Config } from '../base/config.ts';
import type { QueueCalls } from '../queue/local/remote.ts';
import type { BatchReference } from '../store/documents.ts';
import type { OriginMinute } from '../store/operations.ts';

/** What a worker process is started with. */
export interface WorkerSetup {
  config: Config;
  role: string;
  /** Number of the worker in its parent, from 0; worker 0 runs the sweep. */
  index: number;
  /** Base of signed links. */
  publicUrl: string;
}

/** What a worker process reports every second and at its end. */
export interface WorkerReport {
  /** Units ended since the last report. */
  unitsDone: number;
  /** Resident memory. */
  memoryBytes: number;
  /** Requests to origins since the last report. */
  requests: OriginMinute[];
}

/** Functions that the parent offers to a worker process. */
export interface ParentCalls extends QueueCalls {
  /** A message is in hand until `left`: the parent requeues its batch if the worker dies. */
  taken(message: BatchReference): void;
  left(message: BatchReference): void;
  /** A job has moved: waits in the parent wake up. */
  changed(jobId: string): void;
  report(report: WorkerReport): void;
}

/** Functions that a worker process offers to its parent. */
export interface WorkerCalls {
  /** Starts the work; resolves when the queues are consumed. */
  start(setup: WorkerSetup): Promise<void>;
  /** Hands batches back and closes connections; resolves when the process may end. */
  stop(value: null): Promise<void>;
  deliver(delivery: { consumer: number; message: BatchReference }): Promise<void>;
}

/** How often a worker process reports. */
export const reportMs = 1_000;
