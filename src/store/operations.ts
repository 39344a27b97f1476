/** What a process says of itself. */
export interface ProcessReport {
  /** Made anew with every start. */
  id: string;
  /** What it does: "serve", "api", "core", "worker". */
  role: string;
  /** Name of the machine. */
  host: string;
  pid: number;
  /** Of the program. */
  version: string;
  startedAt: number;
  seenAt: number;
  /** Resident memory, worker processes included. */
  memoryBytes: number;
  /** Worker processes that it runs; 0 where it works itself, or not at all. */
  workers: number;
  /** Batches that it works on now. */
  batches: number;
  /** Units that it has ended since its start. */
  unitsDone: number;
  /** Why it begins no work: "disk almost full"; '' while it does. */
  paused: string;
  /** Host clock minus the store's clock, in milliseconds; 0 where the store has the host's. */
  clockSkewMs: number;
}

/** What was asked of an origin in a minute, for one market and region. */
export interface OriginMinute {
  /** Scheme, host and port. */
  origin: string;
  market: string;
  /** '' for a market without regions. */
  region: string;
  /** Beginning of the minute: milliseconds since the epoch. */
  minute: number;
  /** Requests that were answered or given up. */
  requests: number;
  /** Of them, those that the site refused. */
  refused: number;
  /** Of them, those without an answer, or with one of a site that does not work. */
  failed: number;
  /** Milliseconds that all of them took together. */
  milliseconds: number;
}

/** What operators see of the service at work. Kept for hours, not for ever. */
export interface OperationsStore {
  /** Keeps what a process says of itself, in place of what it said before. */
  putProcess(report: ProcessReport): Promise<void>;
  /** Forgets a process that has ended, if it is known. */
  deleteProcess(id: string): Promise<void>;
  /** Processes seen at `since` or later, those started first first, of the same time by id. */
  listProcesses(since: number): Promise<ProcessReport[]>;
  /** Adds to what was asked of origins. Of a call that fails some rows may have been added. */
  addOriginMinutes(rows: readonly OriginMinute[]): Promise<void>;
  /** Minutes that began at `since` or later, oldest first, of the same time by origin, market and region. */
  listOriginMinutes(since: number): Promise<OriginMinute[]>;
}
