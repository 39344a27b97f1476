import { Fault } from '../../base/fault.ts';
import type { Peer } from '../../base/peer.ts';
import type { BatchReference, Lane } from '../../store/documents.ts';
import type { Consumer, Queue } from '../queue.ts';

/** What the process that has the queue offers to one that works. */
export interface QueueCalls {
  publish(message: BatchReference): Promise<boolean>;
  consume(request: ConsumeRequest): Promise<void>;
  /** Resolves when the consumer's running deliveries have ended. */
  stopConsumer(consumer: number): Promise<void>;
  pingQueue(value: null): Promise<void>;
}

/** What a process that works offers to the one that has the queue. */
export interface ConsumerCalls {
  /** Resolves when the message is acknowledged. */
  deliver(delivery: Delivery): Promise<void>;
}

interface ConsumeRequest {
  /** Number of the consumer, chosen by the process that works. */
  consumer: number;
  lane: Lane;
  market: string;
  concurrency: number;
}

interface Delivery {
  consumer: number;
  message: BatchReference;
}

/**
 * Serves a queue to one other process. `peer` is read when the first message is delivered. Messages in
 * hand of a process that ends are rejected, so that the queue delivers them to another.
 */
export function serveQueue(
  queue: Queue,
  peer: () => Peer<ConsumerCalls>,
): { calls: QueueCalls; close(): void } {
  const consumers = new Map<number, Consumer>();
  return {
    calls: {
      publish: (message) => queue.publish(message),
      async consume({ consumer, lane, market, concurrency }) {
        const handle = (message: BatchReference) => peer().call('deliver', { consumer, message });
        consumers.set(consumer, await queue.consume(lane, market, concurrency, handle));
      },
      async stopConsumer(consumer) {
        await consumers.get(consumer)?.stop();
        consumers.delete(consumer);
      },
      pingQueue: () => queue.ping(),
    },
    close() {
      // Takes nothing more at once; what is in hand has been rejected.
      for (const consumer of consumers.values()) void consumer.stop();
      consumers.clear();
    },
  };
}

/** Opens a queue that another process serves; `calls` is what that process has to be offered. */
export function openRemoteQueue(peer: () => Peer<QueueCalls>): { queue: Queue; calls: ConsumerCalls } {
  const handlers = new Map<number, Parameters<Queue['consume']>[3]>();
  const running = new Set<Promise<void>>();
  let nextConsumer = 1;
  let closed = false;
  const refuseWhenClosed = (): void => {
    if (closed) throw new Fault('unavailable', 'The queue is closed.', { component: 'queue' });
  };
  const stop = async (consumer: number): Promise<void> => {
    if (!handlers.has(consumer)) return;
    await peer().call('stopConsumer', consumer);
    handlers.delete(consumer);
  };

  const queue: Queue = {
    engine: 'in process',
    async publish(message) {
      refuseWhenClosed();
      return peer().call('publish', message);
    },
    async consume(lane, market, concurrency, handle): Promise<Consumer> {
      refuseWhenClosed();
      const consumer = nextConsumer++;
      handlers.set(consumer, handle);
      await peer().call('consume', { consumer, lane, market, concurrency });
      return { stop: () => stop(consumer) };
    },
    async ping() {
      refuseWhenClosed();
      await peer().call('pingQueue', null);
    },
    async close() {
      closed = true;
      await Promise.allSettled([...handlers.keys()].map(stop));
      await Promise.allSettled(running);
    },
  };
  return {
    queue,
    calls: {
      async deliver({ consumer, message }) {
        const handle = handlers.get(consumer);
        if (!handle) throw new Fault('unavailable', 'The consumer has stopped.');
        // No lease to extend: the queue hears of this process's end.
        const run = handle(message, () => {});
        running.add(run);
        await run.finally(() => running.delete(run));
      },
    },
  };
}
