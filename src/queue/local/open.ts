import { type Clock, systemClock } from '../../base/clock.ts';
import type { Log } from '../../base/log.ts';
import { Fault } from '../../contract/fault.ts';
import {
  type Consumer,
  createOwners,
  type Owners,
  type PlaceOf,
  type Queue,
  type QueueMessage,
} from '../queue.ts';
import { redeliveryDelayMs } from '../redelivery.ts';

/** Options for openLocalQueue(). */
export interface LocalQueueOptions {
  /** Times redeliveries. */
  clock?: Clock;
  log: Log;
  /** Returns the place of a message. By default, any consumer handles it. */
  placeOf?: PlaceOf;
}

interface Delivery {
  message: QueueMessage;
  /** Number of previous deliveries. */
  deliveries: number;
}

/** A consumer of a topic. */
interface Subscriber {
  member: string;
  handle: Parameters<Queue['consume']>[3];
  running: Set<Promise<void>>;
}

/** Messages of one lane and market in order, and their consumers. */
interface Topic {
  pending: Delivery[];
  subscribers: Subscriber[];
  owners: Owners;
  /** Concurrency of the latest `consume`, which limits all consumers of the topic together. */
  concurrency: number;
  running: number;
}

/** Returns the key of a message: one per attempt of a batch. */
const keyOf = ({ lane, market, batchId, attempt }: QueueMessage): string =>
  `${lane}.${market}.${batchId}.${attempt}`;

/**
 * Opens the queue of the embedded stack, which keeps messages in memory. They are lost when the
 * process ends; the next start republishes them from the store. `publish` never rejects before
 * `close`.
 */
export function openLocalQueue({
  clock = systemClock,
  log,
  placeOf = () => null,
}: LocalQueueOptions): Queue {
  const topics = new Map<string, Topic>();
  const running = new Set<Promise<void>>();
  /** Keys of messages that are queued, being handled or scheduled for redelivery. */
  const held = new Set<string>();
  const closing = new AbortController();

  const topicOf = (lane: string, market: string): Topic => {
    const name = `${lane}.${market}`;
    let topic = topics.get(name);
    if (!topic) {
      topic = {
        pending: [],
        subscribers: [],
        owners: createOwners(),
        concurrency: 0,
        running: 0,
      };
      topics.set(name, topic);
    }
    return topic;
  };

  /** Returns the consumers that may handle a message. */
  const candidatesOf = ({ owners, subscribers }: Topic, message: QueueMessage): Subscriber[] => {
    const workPlace = placeOf(message);
    if (workPlace === null) return subscribers;
    const ids = owners.of(workPlace);
    return subscribers.filter(({ member }) => ids.includes(member));
  };

  const deliverPending = (topic: Topic): void => {
    const { pending, subscribers } = topic;
    while (topic.running < topic.concurrency && subscribers.length > 0 && pending.length > 0) {
      const delivery = pending.shift()!;
      // Round robin: the consumer that got a message comes last.
      const subscriber = candidatesOf(topic, delivery.message)[0]!;
      subscribers.splice(subscribers.indexOf(subscriber), 1);
      subscribers.push(subscriber);
      topic.running += 1;
      const run = deliver(topic, subscriber, delivery).finally(() => {
        subscriber.running.delete(run);
        running.delete(run);
        topic.running -= 1;
        deliverPending(topic);
      });
      subscriber.running.add(run);
      running.add(run);
    }
  };

  const deliver = async (
    topic: Topic,
    subscriber: Subscriber,
    { message, deliveries }: Delivery,
  ): Promise<void> => {
    // The publisher continues before its message is handled.
    await Promise.resolve();
    try {
      await subscriber.handle(message, () => {});
      held.delete(keyOf(message));
    } catch (error) {
      const delayMs = redeliveryDelayMs(error, deliveries + 1);
      const { batchId, attempt } = message;
      const { message: reason } = Fault.from(error);
      if (delayMs === null) {
        held.delete(keyOf(message));
        log.error({ batchId, attempt, error: reason }, 'message dropped');
      } else {
        log.warn(
          {
            batchId,
            attempt,
            error: reason,
            delayMs,
          },
          'message requeued',
        );
        void redeliver(topic, { message, deliveries: deliveries + 1 }, delayMs);
      }
    }
  };

  const redeliver = async (topic: Topic, delivery: Delivery, delayMs: number): Promise<void> => {
    try {
      await clock.sleep(delayMs, closing.signal);
    } catch {
      return;
    }
    topic.pending.push(delivery);
    deliverPending(topic);
  };

  const stop = async (topic: Topic, subscriber: Subscriber): Promise<void> => {
    const index = topic.subscribers.indexOf(subscriber);
    if (index >= 0) topic.subscribers.splice(index, 1);
    rank(topic);
    await Promise.all(subscriber.running);
  };

  const rank = ({ owners, subscribers }: Topic) =>
    owners.use(subscribers.map(({ member }) => member));

  const refuseWhenClosed = (): void => {
    if (closing.signal.aborted)
      throw new Fault('unavailable', 'The queue is closed.', { component: 'queue' });
  };

  return {
    engine: 'in process',
    async publish(message) {
      refuseWhenClosed();
      if (held.has(keyOf(message))) return false;
      held.add(keyOf(message));
      const topic = topicOf(message.lane, message.market);
      topic.pending.push({ message, deliveries: 0 });
      deliverPending(topic);
      return true;
    },
    async consume(lane, market, concurrency, handle, member = ''): Promise<Consumer> {
      refuseWhenClosed();
      const topic = topicOf(lane, market);
      const subscriber: Subscriber = { member, handle, running: new Set() };
      topic.concurrency = concurrency;
      topic.subscribers.push(subscriber);
      rank(topic);
      deliverPending(topic);
      return { stop: () => stop(topic, subscriber) };
    },
    async ping() {
      refuseWhenClosed();
    },
    async close() {
      closing.abort(new Error('the queue is closed'));
      for (const { subscribers } of topics.values()) subscribers.length = 0;
      await Promise.all(running);
    },
  };
}
