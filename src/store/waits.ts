/** What is remembered of a batch that was put back because its pages cannot be had now. */
export interface BatchWait {
  batchId: string;
  jobId: string;
  /** When the waiting began. */
  since: number;
  /** When the batch is tried next. */
  until: number;
  /** What it waits for: "mkta/id: blocked (page_blocked)". */
  reason: string;
  /** Tries so far of units that met a fault, by the unit's index. */
  tries: Record<number, number>;
  /** Consecutive claims that a failure of the store or the result storage cut short without progress. */
  failures: number;
}

/** Batches that wait for an origin. */
export interface WaitStore {
  /** Keeps the wait of its batch, in place of an earlier one. */
  putWait(wait: BatchWait): Promise<void>;
  getWait(batchId: string): Promise<BatchWait | null>;
  /** Waits of a job's batches that last beyond `now`, the first to end first. */
  listWaits(jobId: string, now: number): Promise<BatchWait[]>;
  /** Forgets the wait of a batch, if there is one. */
  deleteWait(batchId: string): Promise<void>;
}
