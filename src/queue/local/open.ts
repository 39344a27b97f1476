import { type Clock, systemClock } from '../../base/clock.ts';
import { Fault } from '../../base/fault.ts';
import type { Log } from '../../base/log.ts';
import type { BatchReference } from '../../store/documents.ts';
import type { Consumer, Queue } from '../queue.ts';
import { redeliveryDelayMs } from '../redelivery.ts';

/** What the queue in the process is handed. */
export interface LocalQueueOptions {
  /** Decides when rejected messages come again. */
  clock?: Clock;
  log: Log;
}

interface Delivery {
  message: BatchReference;
  /** How often it was handed out before. */
  deliveries: number;
}

/** A consumer as its topic sees it. */
interface Taker {
  handle: Parameters<Queue['consume']>[3];
  running: Set<Promise<void>>;
}

/** Messages of one lane and market, first in first out, and who takes them. */
interface Topic {
  waiting: Delivery[];
  takers: Taker[];
  /** What the latest `consume` said: it holds over all of the topic's consumers together. */
  concurrency: number;
  running: number;
}

/** Identifies the one message of a batch's attempt. */
const keyOf = ({ lane, market, batchId, attempt }: BatchReference): string =>
  `${lane}.${market}.${batchId}.${attempt}`;

/**
 * Opens the queue of the embedded stack: messages wait in this process and are gone with it; the
 * start refills it from the store (DESIGN, "Two stacks, one program"). `publish` never fails before
 * `close`.
 */
export function openLocalQueue({ clock = systemClock, log }: LocalQueueOptions): Queue {
  const topics = new Map<string, Topic>();
  const running = new Set<Promise<void>>();
  /** Messages that wait, are in hand, or come again later. */
  const held = new Set<string>();
  const closing = new AbortController();

  const topicOf = (lane: string, market: string): Topic => {
    const name = `${lane}.${market}`;
    let topic = topics.get(name);
    if (!topic) {
      topic = { waiting: [], takers: [], concurrency: 0, running: 0 };
      topics.set(name, topic);
    }
    return topic;
  };

  const hand = (topic: Topic): void => {
    while (topic.running < topic.concurrency && topic.takers.length > 0 && topic.waiting.length > 0) {
      const delivery = topic.waiting.shift()!;
      // Taken from the front and put at the back: consumers take turns.
      const taker = topic.takers.shift()!;
      topic.takers.push(taker);
      topic.running += 1;
      const run = deliver(topic, taker, delivery).finally(() => {
        taker.running.delete(run);
        running.delete(run);
        topic.running -= 1;
        hand(topic);
      });
      taker.running.add(run);
      running.add(run);
    }
  };

  const deliver = async (topic: Topic, taker: Taker, { message, deliveries }: Delivery): Promise<void> => {
    // A publisher goes on before the work that it caused begins.
    await Promise.resolve();
    try {
      await taker.handle(message, () => {});
      held.delete(keyOf(message));
    } catch (error) {
      const delayMs = redeliveryDelayMs(error, deliveries + 1);
      const { batchId, attempt } = message;
      const { message: reason } = Fault.from(error);
      if (delayMs === null) {
        held.delete(keyOf(message));
        log.error({ batchId, attempt, error: reason }, 'message given up');
      } else {
        log.warn({ batchId, attempt, error: reason, delayMs }, 'message comes again');
        void comeAgain(topic, { message, deliveries: deliveries + 1 }, delayMs);
      }
    }
  };

  const comeAgain = async (topic: Topic, delivery: Delivery, delayMs: number): Promise<void> => {
    try {
      await clock.sleep(delayMs, closing.signal);
    } catch {
      return;
    }
    topic.waiting.push(delivery);
    hand(topic);
  };

  const stop = async (topic: Topic, taker: Taker): Promise<void> => {
    topic.takers = topic.takers.filter((other) => other !== taker);
    await Promise.all(taker.running);
  };

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
      topic.waiting.push({ message, deliveries: 0 });
      hand(topic);
      return true;
    },
    async consume(lane, market, concurrency, handle): Promise<Consumer> {
      refuseWhenClosed();
      const topic = topicOf(lane, market);
      const taker: Taker = { handle, running: new Set() };
      topic.concurrency = concurrency;
      topic.takers.push(taker);
      hand(topic);
      return { stop: () => stop(topic, taker) };
    },
    async ping() {
      refuseWhenClosed();
    },
    async close() {
      closing.abort(new Error('the queue is closed'));
      for (const topic of topics.values()) topic.takers = [];
      await Promise.all(running);
    },
  };
}
