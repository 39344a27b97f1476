import type { IpcChannel } from '../../base/ipc-channel.ts';
import { Fault } from '../../contract/fault.ts';
import type { Lane } from '../../store/documents.ts';
import type { Consumer, Queue, QueueMessage } from '../queue.ts';

/** Calls that the process with the queue serves to a worker process. */
export interface QueueCalls {
  publish(message: QueueMessage): Promise<boolean>;
  consume(request: ConsumeRequest): Promise<void>;
  /** Resolves when the consumer's running deliveries have ended. */
  stopConsumer(consumer: number): Promise<void>;
  pingQueue(value: null): Promise<void>;
}

/** Calls that a worker process serves to the process with the queue. */
export interface ConsumerCalls {
  /** Resolves when the message is acknowledged. */
  deliver(delivery: Delivery): Promise<void>;
}

interface ConsumeRequest {
  /** Number of the consumer, chosen by the worker process. */
  consumer: number;
  lane: Lane;
  market: string;
  concurrency: number;
}

interface Delivery {
  consumer: number;
  message: QueueMessage;
}

/**
 * Serves a queue to a worker process, the consumer `member`. `channel` is called when the first
 * message is delivered. The unacknowledged messages of a process that ends are rejected, so that
 * the queue delivers them to another.
 */
export function serveQueue(
  queue: Queue,
  channel: () => IpcChannel<ConsumerCalls>,
  member: string,
): { calls: QueueCalls; close(): void } {
  const consumers = new Map<number, Consumer>();
  return {
    calls: {
      publish: (message) => queue.publish(message),
      async consume({ consumer, lane, market, concurrency }) {
        const handle = (message: QueueMessage) => {
          const delivered = channel().call('deliver', { consumer, message });
          // The publisher's next steps would delay a task whose caller waits for it.
          if (lane === 'single') channel().flush();
          return delivered;
        };
        consumers.set(consumer, await queue.consume(lane, market, concurrency, handle, member));
      },
      async stopConsumer(consumer) {
        await consumers.get(consumer)?.stop();
        consumers.delete(consumer);
      },
      pingQueue: () => queue.ping(),
    },
    close() {
      // The running deliveries have already been rejected, so there is nothing to wait for.
      for (const consumer of consumers.values()) void consumer.stop();
      consumers.clear();
    },
  };
}

/** Opens a queue served by another process. That process must be given `calls`. */
export function openRemoteQueue(channel: () => IpcChannel<QueueCalls>): {
  queue: Queue;
  calls: ConsumerCalls;
} {
  const handlers = new Map<number, Parameters<Queue['consume']>[3]>();
  const running = new Set<Promise<void>>();
  let nextConsumer = 1;
  let closed = false;
  const refuseWhenClosed = (): void => {
    if (closed) throw new Fault('unavailable', 'The queue is closed.', { component: 'queue' });
  };
  const stop = async (consumer: number): Promise<void> => {
    if (!handlers.has(consumer)) return;
    await channel().call('stopConsumer', consumer);
    handlers.delete(consumer);
  };

  const queue: Queue = {
    engine: 'in process',
    async publish(message) {
      refuseWhenClosed();
      return channel().call('publish', message);
    },
    async consume(lane, market, concurrency, handle): Promise<Consumer> {
      refuseWhenClosed();
      const consumer = nextConsumer++;
      handlers.set(consumer, handle);
      await channel().call('consume', {
        consumer,
        lane,
        market,
        concurrency,
      });
      return { stop: () => stop(consumer) };
    },
    async ping() {
      refuseWhenClosed();
      await channel().call('pingQueue', null);
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
        // Nothing to extend: the queue notices the end of this process.
        const run = handle(message, () => {});
        running.add(run);
        await run.finally(() => running.delete(run));
      },
    },
  };
}
