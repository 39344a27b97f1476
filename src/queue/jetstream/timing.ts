/** Durations of the JetStream queue, in milliseconds. */
export interface Timing {
  /** A message in hand comes again after this long without `extend`. */
  ackWaitMs: number;
  /** Longest wait for the engine's answer to a request; a publish is one to four of them. */
  requestMs: number;
  /** How long one pull request stays with the engine, and how often the engine shows that it has it. */
  pullMs: number;
  heartbeatMs: number;
  /** How often a consumer is looked at. */
  watchMs: number;
  /** It stands still: messages wait and slots are free, and nothing was delivered for this long. */
  idleMs: number;
  /** It stands still: no slot is free, nothing was delivered for this long, and nobody here works. */
  heldMs: number;
}

/** What production runs with. */
export const defaultTiming: Timing = {
  // A little longer than a worker's claim on the batch (15 s): a message that comes again before the
  // claim of a dead worker has run out would be taken for one too many.
  ackWaitMs: 18_000,
  requestMs: 2_000,
  pullMs: 20_000,
  heartbeatMs: 2_000,
  watchMs: 10_000,
  idleMs: 30_000,
  heldMs: 300_000,
};
