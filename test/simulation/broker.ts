import { Fault } from '../../src/contract/fault.ts';
import type { Consumer, Queue } from '../../src/queue/queue.ts';
import { redeliveryDelayMs } from '../../src/queue/redelivery.ts';
import type { BatchReference } from '../../src/store/batches.ts';
import type { Process } from './process.ts';
import type { World } from './world.ts';

/** Time after which an unacknowledged message is redelivered, as on JetStream. */
const ackWaitMs = 18_000;
const maxDelayMs = 90_000;

/** The simulated queue: it delivers at least once, in any order, and injects faults. */
export interface Broker {
  /** Returns the queue of a process. */
  of(process: Process): Queue;
  /** Returns the number of messages in the queue. */
  size(): number;
}

interface QueuedMessage {
  id: number;
  message: BatchReference;
  visibleAt: number;
  /** Number of deliveries so far. */
  deliveries: number;
  /** Time at which the current delivery expires. Null if there is none. */
  ackBy: number | null;
}

interface Subscriber {
  process: Process;
  concurrency: number;
  handle: Parameters<Queue['consume']>[3];
  running: Set<Promise<void>>;
}

/** Creates a broker without messages. */
export function createBroker(world: World): Broker {
  const { scheduler, random, seen } = world;
  const messages = new Map<number, QueuedMessage>();
  const subscribers = new Map<string, Subscriber[]>();
  let lastId = 0;

  const topicOf = (lane: string, market: string) => `${lane}.${market}`;

  /** Adds a message. Returns false if there is already one for the same attempt. */
  const add = (message: BatchReference): boolean => {
    const { messageDropped, messageDuplicated, messageDelayed, queueLost } = world.rates;
    if (world.happens(queueLost)) {
      world.trace(`queue loses ${messages.size} messages`);
      messages.clear();
    }
    const { batchId, attempt } = message;
    if (
      messages
        .values()
        .some((each) => each.message.batchId === batchId && each.message.attempt === attempt)
    )
      return false;
    if (world.happens(messageDropped)) return true;
    for (const _copy of world.happens(messageDuplicated) ? [1, 2] : [1]) {
      const delay = world.happens(messageDelayed) ? random.integer(0, maxDelayMs) : 0;
      const id = ++lastId;
      messages.set(id, {
        id,
        message,
        visibleAt: scheduler.now() + delay,
        deliveries: 0,
        ackBy: null,
      });
      pumpAfter(delay, topicOf(message.lane, message.market));
    }
    return true;
  };

  const pumpAfter = (ms: number, topic: string) =>
    scheduler.after(ms, { owner: null, run: () => pump(topic) });

  const pump = (topic: string) => {
    const waiting = (subscribers.get(topic) ?? []).filter(({ process }) => process.alive);
    if (waiting.length === 0) return;
    const own = [...messages.values()].filter(
      ({ message }) => topicOf(message.lane, message.market) === topic,
    );
    let inFlight = own.filter(({ ackBy }) => ackBy !== null).length;
    const ready = own.filter(
      ({ ackBy, visibleAt }) => ackBy === null && visibleAt <= scheduler.now(),
    );
    while (ready.length > 0 && inFlight < waiting[0]!.concurrency) {
      const [entry] = ready.splice(random.integer(0, ready.length - 1), 1);
      deliver(topic, random.pick(waiting), entry!);
      inFlight += 1;
    }
  };

  const deliver = (topic: string, subscriber: Subscriber, entry: QueuedMessage) => {
    const { process } = subscriber;
    entry.deliveries += 1;
    if (entry.deliveries > 1) seen.add('redelivery');
    const delivery = entry.deliveries;
    const isCurrent = () => messages.get(entry.id) === entry && entry.deliveries === delivery;
    entry.ackBy = scheduler.now() + ackWaitMs;
    world.trace(`queue delivers ${entry.id} to ${process.name}, ${delivery}.`);
    const expire = () => {
      if (!isCurrent() || entry.ackBy === null) return;
      if (entry.ackBy > scheduler.now()) {
        scheduler.after(entry.ackBy - scheduler.now(), { owner: null, run: expire });
        return;
      }
      entry.ackBy = null;
      pump(topic);
    };
    scheduler.after(ackWaitMs, { owner: null, run: expire });
    const extend = () => {
      if (isCurrent() && entry.ackBy !== null) entry.ackBy = scheduler.now() + ackWaitMs;
    };
    const ack = () => {
      if (messages.get(entry.id) !== entry) return;
      // As on JetStream, a late ack also acknowledges the later delivery.
      if (!isCurrent() || entry.ackBy === null) seen.add('late ack');
      messages.delete(entry.id);
      pump(topic);
    };
    const nak = (error: unknown) => {
      if (!isCurrent() || entry.ackBy === null) return;
      const delay = redeliveryDelayMs(error, delivery);
      if (delay === null) messages.delete(entry.id);
      else {
        entry.ackBy = null;
        entry.visibleAt = scheduler.now() + delay;
        pumpAfter(delay, topic);
      }
      pump(topic);
    };
    const reply = (run: () => void) => {
      if (world.happens(world.rates.ackLost)) return;
      scheduler.after(random.integer(0, 50), { owner: process, run });
    };
    const handle = async () => {
      const running: Promise<void> = subscriber
        .handle(entry.message, extend)
        .then(
          () => reply(ack),
          (error) => reply(() => nak(error)),
        )
        .finally(() => subscriber.running.delete(running));
      subscriber.running.add(running);
    };
    scheduler.after(random.integer(0, 20), { owner: process, run: () => void handle() });
  };

  const consume = (process: Process, topic: string, subscriber: Subscriber): Consumer => {
    const all = subscribers.get(topic) ?? [];
    subscribers.set(topic, all);
    all.push(subscriber);
    const unsubscribe = () => {
      if (all.includes(subscriber)) all.splice(all.indexOf(subscriber), 1);
    };
    process.onDeath(unsubscribe);
    pumpAfter(0, topic);
    return {
      async stop() {
        unsubscribe();
        await Promise.all(subscriber.running);
      },
    };
  };

  return {
    of: (process) => ({
      engine: 'simulated',
      publish: (message) => process.call('queue', 'publish', () => add(message)),
      consume: async (lane, market, concurrency, handle) =>
        consume(process, topicOf(lane, market), {
          process,
          concurrency,
          handle,
          running: new Set(),
        }),
      ping: () => process.call('queue', 'ping', () => {}),
      close: async () => {
        throw new Fault('internal', 'Simulated processes do not close their queue.');
      },
    }),
    size: () => messages.size,
  };
}
