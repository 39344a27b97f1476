/** Wait of a batch that was requeued because its pages are temporarily unavailable. */
export interface BatchWait {
  batchId: string;
  jobId: string;
  /** Start of the wait. */
  since: number;
  /** Time of the next attempt. */
  until: number;
  /** Cause, such as "mkta/id: blocked (page_blocked)". */
  reason: string;
  /** Attempts so far of units that met a fault, by index. */
  tries: Record<number, number>;
  /** Consecutive claims that ended without progress because the store or the result storage failed. */
  failures: number;
}

/** Waits of batches for an origin. */
export interface WaitStore {
  /** Stores the wait of a batch in place of an earlier one. */
  putWait(wait: BatchWait): Promise<void>;
  getWait(batchId: string): Promise<BatchWait | null>;
  /** Lists the waits of a job's batches that end after `now`, by end. */
  listWaits(jobId: string, now: number): Promise<BatchWait[]>;
  /** Deletes the wait of a batch, if any. */
  deleteWait(batchId: string): Promise<void>;
}
