import { Fault } from '../../src/base/fault.ts';
import type { Consumer, Queue } from '../../src/queue/queue.ts';
import { redeliveryDelayMs } from '../../src/queue/redelivery.ts';
import type { BatchReference } from '../../src/store/documents.ts';
import type { Process } from './process.ts';
import type { World } from './world.ts';

/** How long a delivered message waits for its ack, as on JetStream. */
const ackWaitMs = 18_000;
const maxDelayMs = 90_000;

/** The queue between processes: at least once, in any order, with everything that can go wrong in between. */
export interface Broker {
  /** The queue as a process sees it. */
  of(process: Process): Queue;
  /** Messages that it holds. */
  held(): number;
}

interface Kept {
  id: number;
  message: BatchReference;
  visibleAt: number;
  /** How often it was delivered. */
  deliveries: number;
  /** When the delivery under way counts as lost; null: none is. */
  ackBy: number | null;
}

interface Taker {
  process: Process;
  concurrency: number;
  handle: Parameters<Queue['consume']>[3];
  running: Set<Promise<void>>;
}

/** Creates a broker without messages. */
export function createBroker(world: World): Broker {
  const { scheduler, random, seen } = world;
  const kept = new Map<number, Kept>();
  const takers = new Map<string, Taker[]>();
  let lastId = 0;

  const topicOf = (lane: string, market: string) => `${lane}.${market}`;

  /** Keeps a message; false when it has one of the same attempt, waiting or in hand. */
  const keep = (message: BatchReference): boolean => {
    const { messageDropped, messageDoubled, messageDelayed, queueLost } = world.rates;
    if (world.happens(queueLost)) {
      world.trace(`queue loses ${kept.size} messages`);
      kept.clear();
    }
    const { batchId, attempt } = message;
    if (kept.values().some((each) => each.message.batchId === batchId && each.message.attempt === attempt))
      return false;
    if (world.happens(messageDropped)) return true;
    for (const _copy of world.happens(messageDoubled) ? [1, 2] : [1]) {
      const delay = world.happens(messageDelayed) ? random.integer(0, maxDelayMs) : 0;
      const id = ++lastId;
      kept.set(id, { id, message, visibleAt: scheduler.now() + delay, deliveries: 0, ackBy: null });
      pumpAfter(delay, topicOf(message.lane, message.market));
    }
    return true;
  };

  const pumpAfter = (ms: number, topic: string) =>
    scheduler.after(ms, { owner: null, run: () => pump(topic) });

  const pump = (topic: string) => {
    const waiting = (takers.get(topic) ?? []).filter(({ process }) => process.alive);
    if (waiting.length === 0) return;
    const own = [...kept.values()].filter(({ message }) => topicOf(message.lane, message.market) === topic);
    let underWay = own.filter(({ ackBy }) => ackBy !== null).length;
    const ready = own.filter(({ ackBy, visibleAt }) => ackBy === null && visibleAt <= scheduler.now());
    while (ready.length > 0 && underWay < waiting[0]!.concurrency) {
      const [entry] = ready.splice(random.integer(0, ready.length - 1), 1);
      deliver(topic, random.pick(waiting), entry!);
      underWay += 1;
    }
  };

  const deliver = (topic: string, taker: Taker, entry: Kept) => {
    const { process } = taker;
    entry.deliveries += 1;
    if (entry.deliveries > 1) seen.add('redelivery');
    const delivery = entry.deliveries;
    const isCurrent = () => kept.get(entry.id) === entry && entry.deliveries === delivery;
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
      if (kept.get(entry.id) !== entry) return;
      // A late ack takes the message away from whoever has it now, as JetStream's does.
      if (!isCurrent() || entry.ackBy === null) seen.add('late ack');
      kept.delete(entry.id);
      pump(topic);
    };
    const nak = (error: unknown) => {
      if (!isCurrent() || entry.ackBy === null) return;
      const delay = redeliveryDelayMs(error, delivery);
      if (delay === null) kept.delete(entry.id);
      else {
        entry.ackBy = null;
        entry.visibleAt = scheduler.now() + delay;
        pumpAfter(delay, topic);
      }
      pump(topic);
    };
    const answer = (run: () => void) => {
      if (world.happens(world.rates.ackLost)) return;
      scheduler.after(random.integer(0, 50), { owner: process, run });
    };
    const handle = async () => {
      const running: Promise<void> = taker
        .handle(entry.message, extend)
        .then(
          () => answer(ack),
          (error) => answer(() => nak(error)),
        )
        .finally(() => taker.running.delete(running));
      taker.running.add(running);
    };
    scheduler.after(random.integer(0, 20), { owner: process, run: () => void handle() });
  };

  const consume = (process: Process, topic: string, taker: Taker): Consumer => {
    const all = takers.get(topic) ?? [];
    takers.set(topic, all);
    all.push(taker);
    const leave = () => {
      if (all.includes(taker)) all.splice(all.indexOf(taker), 1);
    };
    process.onDeath(leave);
    pumpAfter(0, topic);
    return {
      async stop() {
        leave();
        await Promise.all(taker.running);
      },
    };
  };

  return {
    of: (process) => ({
      engine: 'simulated',
      publish: (message) => process.call('queue', 'publish', () => keep(message)),
      consume: async (lane, market, concurrency, handle) =>
        consume(process, topicOf(lane, market), { process, concurrency, handle, running: new Set() }),
      ping: () => process.call('queue', 'ping', () => {}),
      close: async () => {
        throw new Fault('internal', 'Simulated processes do not close their queue.');
      },
    }),
    held: () => kept.size,
  };
}
