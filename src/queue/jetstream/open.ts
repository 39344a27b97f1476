import { type Clock, systemClock } from '../../base/clock.ts';
import type { Log } from '../../base/log.ts';
import { Fault } from '../../contract/fault.ts';
import type { Consumer, PlaceOf, Queue } from '../queue.ts';
import { type ConnectionSession, openConnection, unreachable } from './connection.ts';
import { startConsumer } from './consumer.ts';
import { createPublisher } from './publish.ts';
import { createRouting } from './routing.ts';
import { defaultTiming, type JetStreamTiming } from './timing.ts';
import { describeError, requireOwnStream } from './topology.ts';

/** Options for openJetStreamQueue(). */
export interface JetStreamQueueOptions {
  /** NATS_URL: see parseAddress. */
  url: string;
  /**
   * Name of the stream and first token of its subjects; distinguishes deployments on one server.
   */
  name?: string;
  /** Defaults to 3 on a cluster and 1 on a single server. */
  replicas?: number;
  /** Returns the id of the installation, whose stream no other may use. */
  owner: () => Promise<string>;
  /** Returns the place of a message. By default, any consumer handles it. */
  placeOf?: PlaceOf;
  timing?: Partial<JetStreamTiming>;
  clock?: Clock;
  log: Log;
}

/**
 * Opens the queue of the distributed stack: a work-queue stream with one durable pull consumer per
 * lane and market. The server may be down at the start and may later fail, with or without losing
 * its data. Throws ConfigError for an invalid address.
 */
export function openJetStreamQueue(options: JetStreamQueueOptions): Queue {
  const { url, name = 'gleaner', replicas, owner, placeOf, clock = systemClock, log } = options;
  const timing = { ...defaultTiming, ...options.timing };
  const stream = { name, replicas, owner };
  const connection = openConnection({
    url,
    requestMs: timing.requestMs,
    clock,
    log,
  });
  const routing =
    placeOf &&
    createRouting({
      connection,
      name,
      placeOf,
      timing,
      clock,
    });
  const consumers = new Set<Consumer>();
  const closing = new AbortController();
  const { electionMs } = timing;
  const publish = createPublisher({
    connection,
    stream,
    electionMs,
    closing: closing.signal,
    clock,
    log,
  });
  let closed: Promise<void> | null = null;

  const session = (): ConnectionSession => {
    const current = closing.signal.aborted ? null : connection.current();
    if (current === null) throw unreachable();
    return current;
  };

  return {
    engine: 'NATS JetStream',

    async publish(message) {
      try {
        return await publish(message);
      } catch (error) {
        throw asFault(error, 'NATS JetStream did not accept a message');
      }
    },

    async consume(lane, market, concurrency, handle) {
      if (closing.signal.aborted) throw unreachable();
      const settings = {
        lane,
        market,
        concurrency,
        ackWaitMs: timing.ackWaitMs,
      };
      const route = routing?.open(lane, market, handle);
      const started = startConsumer({
        connection,
        stream,
        settings,
        timing,
        clock,
        log,
        handle: route?.handle ?? handle,
      });
      const consumer = {
        stop: async () => {
          await Promise.all([started.stop(), route?.stop()]);
          consumers.delete(consumer);
        },
      };
      consumers.add(consumer);
      return consumer;
    },

    async ping() {
      try {
        const current = session();
        await current.jsm.getAccountInfo();
        await requireOwnStream(current, stream);
      } catch (error) {
        throw asFault(error, 'NATS JetStream does not respond');
      }
    },

    close() {
      closing.abort(unreachable());
      const stopConsumers = () => Promise.all([...consumers].map((consumer) => consumer.stop()));
      closed ??= stopConsumers().then(() => connection.close());
      return closed;
    },
  };
}

function asFault(error: unknown, what: string): Fault {
  if (error instanceof Fault) return error;
  return new Fault('unavailable', `${what}: ${describeError(error)}.`, {
    component: 'queue',
    cause: error,
  });
}
