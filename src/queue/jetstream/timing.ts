/** Durations of the JetStream queue, in milliseconds. */
export interface JetStreamTiming {
  /** Time after which a delivered message is redelivered unless `extend` is called. */
  ackWaitMs: number;
  /** Timeout of a request to the server. */
  requestMs: number;
  /**
   * Time for which a publish is repeated while no server accepts it: longer than the election of a
   * leader.
   */
  electionMs: number;
  /** Lifetime of a pull request. */
  pullMs: number;
  /** Interval of the server's heartbeats for a pull request. */
  heartbeatMs: number;
  /** Interval at which a consuming process reports that it runs. */
  presenceMs: number;
  /** Time without a report after which a consuming process counts as gone. */
  absentMs: number;
  /** Interval between checks of a consumer. */
  watchMs: number;
  /** A consumer is stalled if it delivers nothing for this long despite messages and free slots. */
  idleMs: number;
  /**
   * A consumer is stalled if all slots are taken and unacknowledged for this long and no handler
   * runs here.
   */
  heldMs: number;
}

/** Durations used in production. */
export const defaultTiming: JetStreamTiming = {
  // Longer than a worker's lease on the batch (15 s). A message redelivered earlier would find the
  // dead worker's lease still valid and be dropped as a duplicate.
  ackWaitMs: 18_000,
  requestMs: 2_000,
  electionMs: 10_000,
  pullMs: 20_000,
  heartbeatMs: 2_000,
  presenceMs: 1_500,
  absentMs: 5_000,
  watchMs: 10_000,
  idleMs: 30_000,
  heldMs: 300_000,
};
