/**
 * Limits for expire(). Times are milliseconds since the epoch: records from before are deleted. Records of a
 * kind without a limit are kept.
 */
export interface Cutoffs {
  /** Crawled pages, by the time of the crawl. */
  crawls?: number;
  /**
   * Maximum number of crawled pages kept, newest first. Pages crawled in the same millisecond are kept or
   * deleted together.
   */
  maxCrawls?: number;
  /** Origins, by their latest reservation, permit, or pause. */
  origins?: number;
  /** Processes, by their latest heartbeat. */
  processes?: number;
  /** Request counts of origins, by the beginning of the minute. */
  originMinutes?: number;
  /** Deliveries, by their creation. */
  deliveries?: number;
  /** Sessions of browsers, by their expiry. */
  sessions?: number;
  /** Entries of the audit log, by the time of the action. */
  auditLog?: number;
  /** Runs of schedules, by their start. */
  scheduleRuns?: number;
  /** Observations, by the time at which another one followed. The latest one of an item is kept. */
  observations?: number;
  /** Runs with their changes of items, by the end of the comparison. */
  trackingRuns?: number;
}

/** Retention of records that are kept for a limited time. */
export interface ExpiryStore {
  /**
   * Deletes records beyond each cutoff and returns their number: at least 1,000 of each kind, if as many are
   * left, and a bounded number. A call that fails may have deleted some of them.
   */
  expire(cutoffs: Cutoffs): Promise<number>;
}
