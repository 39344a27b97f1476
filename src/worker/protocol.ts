import type { ClockOrigin } from '../base/clock.ts';
import type { Config } from '../base/config.ts';
import type { UnitReading } from '../jobs/context.ts';
import type { QueueCalls } from '../queue/local/remote.ts';
import type { QueueMessage } from '../queue/queue.ts';
import type { BatchReference } from '../store/batches.ts';
import type { OriginMinute } from '../store/operations.ts';
import type { MetricsReport } from '../telemetry/metrics.ts';

/** Configuration of a worker process. */
export interface WorkerSetup {
  config: Config;
  role: string;
  /** Index of the worker in its parent, from 0. */
  index: number;
  /** Id of the process as a holder of origins' permits, which its parent releases if it dies. */
  holder: string;
  /** Base of signed links. */
  publicUrl: string;
  /** True if reports contain measurements. */
  measures: boolean;
  /** True if the process consumes no queue, but reads the batches that its parent sends. */
  readsSuspects: boolean;
  /** Origin of the parent's clock. */
  clockOrigin: ClockOrigin | null;
}

/**
 * Descriptor of the pipe on which a process reports that its main thread stalls, before it ends.
 */
export const stallFd = 4;

/** Report that a process sends before it ends because of a stall. */
export interface StallReport {
  /** Unit whose page is being read. Null if the process stalled elsewhere. */
  unit: UnitReading | null;
}

/** Report that a worker process sends every second and before it exits. */
export interface WorkerReport {
  /** Units completed since the last report. */
  unitsDone: number;
  /** Resident memory without the pages of files, in bytes. */
  memoryBytes: number;
  /** Requests to origins since the last report. */
  requests: OriginMinute[];
  /** Measurements since the last report. Absent if the parent exports no metrics. */
  metrics?: MetricsReport;
}

/** Claim of a batch by a worker process. */
export interface BatchClaim {
  batchId: string;
  attempt: number;
}

/** Functions that the parent exposes to a worker process. */
export interface ParentCalls extends QueueCalls {
  /** A message is in progress until `settled`: the parent requeues its batch if the worker dies. */
  received(message: BatchReference): void;
  settled(message: BatchReference): void;
  /**
   * A batch was claimed, with the attempt of the claim, which the parent releases if the worker
   * dies.
   */
  claimed(claim: BatchClaim): void;
  /** A suspect batch was released, for the process that reads such batches. */
  suspect(message: BatchReference): void;
  /** Wakes the waits on a job in the parent. */
  changed(jobId: string): void;
  report(report: WorkerReport): void;
}

/** Functions that a worker process exposes to its parent. */
export interface WorkerCalls {
  /** Starts work. Resolves when the queues are consumed. */
  start(setup: WorkerSetup): Promise<void>;
  /** Releases batches and closes connections. Resolves when the process may exit. */
  stop(value: null): Promise<void>;
  deliver(delivery: { consumer: number; message: QueueMessage }): Promise<void>;
  /** Reads a batch whose page may end this process. Resolves when its claim has ended. */
  read(message: BatchReference): Promise<void>;
}

/** Interval between reports of a worker process. */
export const reportMs = 1_000;
