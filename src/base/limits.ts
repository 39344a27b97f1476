import { totalmem } from 'node:os';
import { getHeapStatistics } from 'node:v8';

const mebibyte = 1024 ** 2;
const dayMs = 86_400_000;

/**
 * Time that records are kept, in milliseconds. Null: without limit. Jobs and results count from the
 * end of the job, observations from the one that followed.
 */
export type Retention = Record<
  'resultsMs' | 'jobsMs' | 'deliveriesMs' | 'auditLogMs' | 'historyMs',
  number | null
>;

/** Time that other records than jobs and results are kept, in milliseconds. */
export const recordRetention = {
  deliveriesMs: 30 * dayMs,
  auditLogMs: 400 * dayMs,
  historyMs: 400 * dayMs,
};

/** Limits that are the same everywhere, or follow from the cores and the memory of the machine. */
export interface Limits {
  /**
   * Maximum concurrent batches per job and region; raised if the `concurrency` of the origin needs
   * more.
   */
  jobWindow: number;
  /** Maximum open connections of each port. */
  maxConnections: number;
  /**
   * Free bytes on the data folder's disk below which no work is accepted or started; 0: no limit.
   */
  minFreeDiskBytes: number;
  /** Replicas of the NATS stream. Null: 3 on a cluster, 1 on a single server. */
  natsReplicas: number | null;
  /** Time between audits of the store for the metrics, in milliseconds. */
  auditIntervalMs: number;
  /** Maximum age of a result that is reused, in milliseconds. */
  recentCrawlMs: number;
  /** Price of a unit whose result is reused, as a percentage of the unit price. */
  reusedPricePercent: number;
  /** Maximum bytes of the kept pages of a user. */
  keptPageBytes: number;
  /** Heap limit of a worker process, in bytes. */
  workerMemoryBytes: number;
  /**
   * Maximum bytes of decoded pages, and of records not stored yet, that a process holds at the same
   * time.
   */
  pageMemoryBytes: number;
  /** Maximum pages that a process opens in its browsers at the same time. */
  browserPages: number;
  /** Memory above which a browser is restarted, in bytes. */
  browserMemoryBytes: number;
}

/**
 * Returns the limits for a number of worker processes. `overrides`: JSON of limits that tests
 * change, since no machine of theirs is full or has little memory.
 */
export function readLimits(workers: number, overrides = '{}'): Limits {
  const overridden: Partial<Limits> = JSON.parse(overrides || '{}');
  const workerMemoryBytes = overridden.workerMemoryBytes ?? workerMemory(workers);
  const heapBytes = workers > 0 ? workerMemoryBytes : getHeapStatistics().heap_size_limit;
  return {
    jobWindow: 16,
    maxConnections: 2_000,
    minFreeDiskBytes: 512 * mebibyte,
    natsReplicas: null,
    auditIntervalMs: dayMs / 4,
    recentCrawlMs: dayMs,
    reusedPricePercent: 50,
    keptPageBytes: 5 * 1024 * mebibyte,
    workerMemoryBytes,
    // A page of empty JSON objects takes 22 times its size when parsed.
    pageMemoryBytes: Math.max(1, Math.floor(heapBytes / 32 / mebibyte)) * mebibyte,
    browserPages: 4,
    browserMemoryBytes: 1_536 * mebibyte,
    ...overridden,
  };
}

/** Returns a share of the machine's memory, or of its container's: 256 MiB to 1 GiB. */
function workerMemory(workers: number): number {
  const memory = process.constrainedMemory() || totalmem();
  const share = Math.floor(Math.min(memory, totalmem()) / (workers + 1) / mebibyte);
  return Math.max(256, Math.min(1_024, share)) * mebibyte;
}
