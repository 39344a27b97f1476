import { createBoundedMap } from '../base/bounded-map.ts';
import { sha256 } from '../base/id.ts';
import type { BatchReference } from '../store/batches.ts';
import type { Lane } from '../store/documents.ts';
import { attribute, ownAttribute } from '../telemetry/attributes.ts';
import { inSpan } from '../telemetry/trace.ts';

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
   * processes. Messages of a place go to its owners, while these respond. A message is acknowledged
   * when `handle` resolves and redelivered with increasing delays when it rejects. After five
   * rejections other than `unavailable` the message is dropped, and the sweep republishes its
   * batch. `extend` renews the acknowledgement deadline. `member`: id of the consuming process, if
   * it is not the one with the queue.
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

/** Types of the operations, in terms of the conventions. */
const operationTypes = { publish: 'send', process: 'process' };

/** Returns the attributes of a span that publishes or processes a message. */
export function messageAttributes(
  { engine }: Pick<Queue, 'engine'>,
  { lane, market, region, jobId, batchId, attempt, units }: QueueMessage,
  operation: keyof typeof operationTypes,
) {
  return {
    [attribute.messagingSystem]: engine === 'in process' ? 'in_process' : 'nats',
    [attribute.messagingDestination]: `${lane}.${market}`,
    [attribute.messagingOperation]: operation,
    [attribute.messagingOperationType]: operationTypes[operation],
    [attribute.messagingId]: `${batchId}.${attempt}`,
    [ownAttribute.job]: jobId,
    [ownAttribute.batch]: batchId,
    [ownAttribute.attempt]: attempt,
    [ownAttribute.market]: market,
    [ownAttribute.region]: region,
    [ownAttribute.units]: units,
  };
}

/**
 * Processes a message in a span whose parent is the publisher's, or in a new trace if there is
 * none.
 */
export function inMessageSpan(
  queue: Pick<Queue, 'engine'>,
  message: QueueMessage,
  run: () => Promise<void>,
): Promise<void> {
  const attributes = messageAttributes(queue, message, 'process');
  const name = `process ${message.lane}.${message.market}`;
  return inSpan(name, { kind: 'consumer', attributes, parent: message.trace ?? {} }, run);
}

/**
 * Place whose messages a few consumers handle, so that they keep the state of its origin in memory.
 */
export interface WorkPlace {
  /** Name of the place, such as "mkta/id". */
  name: string;
  /** Number of its owners, at least 1. */
  owners: number;
}

/** Returns the place of a message. Null if any consumer may handle it. */
export type PlaceOf = (message: BatchReference) => WorkPlace | null;

/** Consumers by id, and the places that each of them owns. */
export interface Owners {
  /** Replaces the ids of the consumers. */
  use(members: readonly string[]): void;
  /**
   * Returns the owners of a place in the order of their rank. Consumers that come and go change
   * only the places that they own.
   */
  of(workPlace: WorkPlace): readonly string[];
}

/** Ranks a consumer for a place (rendezvous hashing). */
const weightOf = (workPlace: string, member: string): string => sha256(`${workPlace} ${member}`);

/** Creates an empty set of consumers. */
export function createOwners(): Owners {
  let ids: readonly string[] = [];
  const rankings = createBoundedMap<readonly string[]>({
    maxBytes: 4 * 1024 ** 2,
    sizeOf: (ranking) => 16 * ranking.length,
  });
  const rank = (workPlace: string): readonly string[] => {
    const weights = new Map(ids.map((id) => [id, weightOf(workPlace, id)]));
    return ids.toSorted((one, other) => (weights.get(one)! < weights.get(other)! ? -1 : 1));
  };
  return {
    use(members) {
      ids = [...members];
      rankings.clear();
    },
    of({ name, owners }) {
      const ranking = rankings.get(name) ?? rank(name);
      rankings.set(name, ranking);
      return ranking.slice(0, owners);
    },
  };
}
