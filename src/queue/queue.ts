import type { BatchReference, Lane } from '../store/documents.ts';

/**
 * The queue port: moves work, holds no truth. A message may come late, twice or never; the store
 * decides what it means. Faults: `unavailable` when the engine does not answer.
 */
export interface Queue {
  /** Name of the engine, for people: "in process", "NATS JetStream". */
  readonly engine: string;
  /**
   * Resolves once the engine has the message: true when it was added, false when the engine still had one
   * of the same batch and attempt, waiting or in hand. Rejects with `unavailable` when the engine does not
   * answer or is full; a message whose publish was rejected may still arrive.
   */
  publish(message: BatchReference): Promise<boolean>;
  /**
   * Hands messages of a lane and market to `handle`, at most `concurrency` at once over all
   * processes together. A message is acknowledged when `handle` resolves. It comes again, later each
   * time, when it rejects; after five rejections other than `unavailable` it is given up, and the
   * sweep publishes its batch again. `extend` tells the engine that the work goes on.
   */
  consume(
    lane: Lane,
    market: string,
    concurrency: number,
    handle: (message: BatchReference, extend: () => void) => Promise<void>,
  ): Promise<Consumer>;
  /** Resolves when the engine answers; rejects with `unavailable`. */
  ping(): Promise<void>;
  /** Stops consumers, waits for their running handlers, and closes connections. */
  close(): Promise<void>;
}

/** A running consumer. */
export interface Consumer {
  /** Takes no further messages and resolves when the running handlers have ended. */
  stop(): Promise<void>;
}
