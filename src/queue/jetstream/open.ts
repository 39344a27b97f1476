import { NatsError } from 'nats';
import { type Clock, systemClock } from '../../base/clock.ts';
import { Fault } from '../../base/fault.ts';
import type { Log } from '../../base/log.ts';
import type { Consumer, Queue } from '../queue.ts';
import { startConsumer } from './consumer.ts';
import { maxAgeMs } from './limits.ts';
import { openLink, type Session, unreachable } from './link.ts';
import { encode } from './message.ts';
import { defaultTiming, type Timing } from './timing.ts';
import { describeError, ensureStream, isHeld, subjectOf } from './topology.ts';

/** What the JetStream queue is handed. */
export interface JetStreamQueueOptions {
  /** NATS_URL: see parseAddress. */
  url: string;
  /** Tells deployments on one server apart: name of the stream, first word of its subjects. */
  name?: string;
  /** Absent: 3 on a cluster, 1 on a single server. */
  replicas?: number;
  timing?: Partial<Timing>;
  clock?: Clock;
  log: Log;
}

/** Tries of one publish that nobody listens to, and the pause between them. */
const mostTries = 6;
const pauseMs = 100;

/**
 * Opens the queue of the distributed stack: a work-queue stream with one durable pull consumer per
 * lane and market. The server may be down: it is used once it answers, and again after it was away,
 * with or without its data. Throws ConfigError for an address that can't be one.
 */
export function openJetStreamQueue(options: JetStreamQueueOptions): Queue {
  const { url, name = 'gleaner', replicas, clock = systemClock, log } = options;
  const timing = { ...defaultTiming, ...options.timing };
  const stream = { name, replicas };
  const link = openLink({ url, requestMs: timing.requestMs, clock, log });
  const consumers = new Set<Consumer>();
  let closing: Promise<void> | null = null;

  const session = (): Session => {
    const current = closing === null ? link.current() : null;
    if (current === null) throw unreachable();
    return current;
  };

  return {
    engine: 'NATS JetStream',

    async publish(message) {
      const { lane, market, batchId, attempt } = message;
      const period = Math.floor(clock.now() / maxAgeMs);
      const subject = subjectOf(name, lane, market, `${batchId}.${attempt}.${period}`);
      const data = encode(message);
      try {
        for (let tries = 1; ; tries += 1) {
          try {
            await session().js.publish(subject, data);
            return true;
          } catch (error) {
            if (isHeld(error)) return false;
            if (!isUnheard(error) || tries === mostTries) throw error;
          }
          // Nobody listens: the stream is not there, or was made by someone a moment ago.
          if (tries === 1) await ensureStream(session(), stream, log);
          else await clock.sleep(pauseMs);
        }
      } catch (error) {
        throw asFault(error, 'NATS JetStream did not take a message');
      }
    },

    async consume(lane, market, concurrency, handle) {
      if (closing !== null) throw unreachable();
      const wish = { lane, market, concurrency, ackWaitMs: timing.ackWaitMs };
      const consumer = startConsumer({ link, stream, wish, timing, clock, log, handle });
      consumers.add(consumer);
      return {
        stop: async () => {
          await consumer.stop();
          consumers.delete(consumer);
        },
      };
    },

    async ping() {
      try {
        await session().jsm.getAccountInfo();
      } catch (error) {
        throw asFault(error, 'NATS JetStream does not answer');
      }
    },

    close() {
      closing ??= Promise.all([...consumers].map((consumer) => consumer.stop())).then(() => link.close());
      return closing;
    },
  };
}

function isUnheard(error: unknown): boolean {
  // The server's own refusals, such as a full stream, have the same code.
  return error instanceof NatsError && error.code === '503' && !error.api_error;
}

function asFault(error: unknown, what: string): Fault {
  if (error instanceof Fault) return error;
  return new Fault('unavailable', `${what}: ${describeError(error)}.`, { component: 'queue', cause: error });
}
