import type { BatchReference } from '../store/batches.ts';
import type { Lane } from '../store/documents.ts';

/** A message: a reference to a batch. */
export interface QueueMessage extends BatchReference {
  /** W3C trace context of the publisher, by the lower-case names of its headers. */
  trace?: Readonly<Record<string, string>>;
  /** True if another process began to handle it, and is gone. */
  isTakenOver?: boolean | undefined;
}

/**
 * The queue port. Messages are hints: they may arrive late, twice or never, and the store decides
 * what they mean. Methods reject with `unavailable` when the engine does not respond.
 */
export interface Queue {
  /** Display name of the engine: "in process", "NATS JetStream". */
  readonly engine: string;
  /**
   * Resolves once the engine has stored the message: with true if it was added, with false if a
   * message of the same batch and attempt is already queued or being handled. Rejects with
   * `unavailable` when the engine does not respond or is full; a message whose publish was rejected
   * may still arrive.
   */
  publish(message: QueueMessage): Promise<boolean>;
  /**
   * Delivers messages of a lane and market to `handle`, at most `concurrency` at a time over all
   * processes. Messages of a place go to its owners, while these respond (./owners.ts). A message
   * is acknowledged when `handle` resolves and redelivered with increasing delays when it rejects.
   * After five rejections other than `unavailable` the message is dropped, and the sweep
   * republishes its batch. `extend` renews the acknowledgement deadline. `member`: id of the
   * consuming process, if it is not the one with the queue.
   */
  consume(
    lane: Lane,
    market: string,
    concurrency: number,
    handle: (message: QueueMessage, extend: () => void) => Promise<void>,
    member?: string,
  ): Promise<Consumer>;
  /** Resolves when the engine responds; rejects with `unavailable`. */
  ping(): Promise<void>;
  /** Stops consumers, waits for their running handlers, and closes connections. */
  close(): Promise<void>;
}

export interface Consumer {
  /** Stops deliveries and resolves when the running handlers have ended. */
  stop(): Promise<void>;
}

/** Wraps a queue; `published` resolves when the first message is published through the wrapper. */
export function watchFirstPublish(queue: Queue): { queue: Queue; published: Promise<void> } {
  const { promise: published, resolve } = Promise.withResolvers<void>();
  return {
    published,
    queue: {
      ...queue,
      publish(message) {
        resolve();
        return queue.publish(message);
      },
    },
  };
}
