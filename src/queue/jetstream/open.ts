import { NatsError } from 'nats';
import { type Clock, systemClock } from '../../base/clock.ts';
import type { Log } from '../../base/log.ts';
import { Fault } from '../../contract/fault.ts';
import type { Consumer, Queue } from '../queue.ts';
import { type ConnectionSession, openConnection, unreachable } from './connection.ts';
import { startConsumer } from './consumer.ts';
import { maxAgeMs } from './limits.ts';
import { encode, encodeHeaders } from './message.ts';
import { defaultTiming, type JetStreamTiming } from './timing.ts';
import { describeError, ensureStream, formatSubject, isHeld } from './topology.ts';

/** Options for openJetStreamQueue(). */
export interface JetStreamQueueOptions {
  /** NATS_URL: see parseAddress. */
  url: string;
  /** Name of the stream and first token of its subjects; distinguishes deployments on one server. */
  name?: string;
  /** Defaults to 3 on a cluster and 1 on a single server. */
  replicas?: number;
  timing?: Partial<JetStreamTiming>;
  clock?: Clock;
  log: Log;
}

/** Attempts of a publish without a responder, and the delay between them. */
const maxAttempts = 6;
const retryDelayMs = 100;

/**
 * Opens the queue of the distributed stack: a work-queue stream with one durable pull consumer per lane and
 * market. The server may be down at the start and may later fail, with or without losing its data. Throws
 * ConfigError for an invalid address.
 */
export function openJetStreamQueue(options: JetStreamQueueOptions): Queue {
  const { url, name = 'gleaner', replicas, clock = systemClock, log } = options;
  const timing = { ...defaultTiming, ...options.timing };
  const stream = { name, replicas };
  const connection = openConnection({ url, requestMs: timing.requestMs, clock, log });
  const consumers = new Set<Consumer>();
  let closing: Promise<void> | null = null;

  const session = (): ConnectionSession => {
    const current = closing === null ? connection.current() : null;
    if (current === null) throw unreachable();
    return current;
  };

  return {
    engine: 'NATS JetStream',

    async publish(message) {
      const { lane, market, batchId, attempt } = message;
      const period = Math.floor(clock.now() / maxAgeMs);
      const subject = formatSubject(name, lane, market, `${batchId}.${attempt}.${period}`);
      const data = encode(message);
      const headers = encodeHeaders(message);
      try {
        for (let attempts = 1; ; attempts += 1) {
          try {
            await session().js.publish(subject, data, headers === undefined ? {} : { headers });
            return true;
          } catch (error) {
            if (isHeld(error)) return false;
            if (!hasNoResponder(error) || attempts === maxAttempts) throw error;
          }
          // No responder: the stream is missing or is just being created by another process.
          if (attempts === 1) await ensureStream(session(), stream, log);
          else await clock.sleep(retryDelayMs);
        }
      } catch (error) {
        throw asFault(error, 'NATS JetStream did not accept a message');
      }
    },

    async consume(lane, market, concurrency, handle) {
      if (closing !== null) throw unreachable();
      const settings = { lane, market, concurrency, ackWaitMs: timing.ackWaitMs };
      const consumer = startConsumer({ connection, stream, settings, timing, clock, log, handle });
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
        throw asFault(error, 'NATS JetStream does not respond');
      }
    },

    close() {
      closing ??= Promise.all([...consumers].map((consumer) => consumer.stop())).then(() =>
        connection.close(),
      );
      return closing;
    },
  };
}

function hasNoResponder(error: unknown): boolean {
  // Refusals by the server, such as a full stream, have the same code and an API error.
  return error instanceof NatsError && error.code === '503' && !error.api_error;
}

function asFault(error: unknown, what: string): Fault {
  if (error instanceof Fault) return error;
  return new Fault('unavailable', `${what}: ${describeError(error)}.`, { component: 'queue', cause: error });
}
