import type { Collection } from './collection.ts';

/** Heartbeat of a process. */
export interface ProcessReport {
  /** Unique for each start of the process. */
  id: string;
  /** "serve", "api", "core", or "worker". */
  role: string;
  /** Host name. */
  host: string;
  pid: number;
  /** Version of the program. */
  version: string;
  startedAt: number;
  seenAt: number;
  /** Resident memory in bytes, worker processes included. */
  memoryBytes: number;
  /** Number of worker processes it runs; 0 if it runs batches itself or not at all. */
  workers: number;
  /** Number of batches in progress. */
  batches: number;
  /** Number of units ended since the start. */
  unitsDone: number;
  /** Reason why it starts no work, such as "disk almost full". Empty if it does. */
  paused: string;
  /** Host clock minus store clock in milliseconds; 0 for SQLite. */
  clockSkewMs: number;
}

/** Value of `paused` of a process that does not reach the queue. */
export const queueUnavailable = 'queue unavailable';

/** Age of a heartbeat after which a process is not alive. Processes report every 10 seconds. */
export const silentMs = 15_000;

/**
 * Returns the processes that reported within `maxAgeMs`, the one that started first in front. A
 * report of a later time was written before the clock was set back.
 */
export function findLiveProcesses(
  { processes }: { processes: Pick<Collection<ProcessReport>, 'find'> },
  now: number,
  maxAgeMs: number,
): Promise<ProcessReport[]> {
  return processes.find({ seenAt: { atLeast: now - maxAgeMs, atMost: now + maxAgeMs } });
}

/** Request counts of an origin in one minute, for one market and region. */
export interface OriginMinute {
  /** Scheme, host, and port. */
  origin: string;
  market: string;
  /** Empty for a market without regions. */
  region: string;
  /** Start of the minute in milliseconds since the epoch. */
  minute: number;
  /** Requests that ended, with a response or without. */
  requests: number;
  /** Requests that the site refused. */
  refused: number;
  /** Requests without a response or with a server error. */
  failed: number;
  /** Total duration of the requests. */
  milliseconds: number;
}
