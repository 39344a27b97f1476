import { type Msg, nanos } from 'nats';
import type { Clock } from '../../base/clock.ts';
import type { Log } from '../../base/log.ts';
import { Fault } from '../../contract/fault.ts';
import type { BatchReference } from '../../store/batches.ts';
import type { Consumer, Queue } from '../queue.ts';
import { redeliveryDelayMs } from '../redelivery.ts';
import { type ConnectionSession, type JetStreamConnection, orAborted } from './connection.ts';
import { decode } from './message.ts';
import { pull } from './pull.ts';
import { serveRepeatedly } from './serve-repeatedly.ts';
import { detectStall } from './stall-detector.ts';
import type { JetStreamTiming } from './timing.ts';
import {
  type ConsumerSettings,
  ensureConsumer,
  ensureStream,
  formatConsumerName,
  readConsumer,
  type StreamSettings,
} from './topology.ts';

/** Options for startConsumer(). */
export interface ConsumerOptions {
  connection: JetStreamConnection;
  stream: StreamSettings;
  settings: ConsumerSettings;
  timing: JetStreamTiming;
  clock: Clock;
  log: Log;
  handle: Parameters<Queue['consume']>[3];
}

const backOff = { firstMs: 100, maxMs: 5_000 };
/**
 * Tolerance for a stream's creation time, which differs by microseconds after a restart of the
 * server.
 */
const creationToleranceMs = 20;

/**
 * Consumes one lane and market until stopped. Recovers from lost connections, streams and consumers
 * by creating what is missing, and recreates a stalled consumer. The server limits concurrency over
 * all processes (max_ack_pending); this process also limits its own, because a recreated consumer
 * redelivers messages that are still being handled.
 */
export function startConsumer(options: ConsumerOptions): Consumer {
  const { connection, stream, settings, timing, clock, handle } = options;
  const { lane, market, concurrency } = settings;
  const name = formatConsumerName(lane, market);
  const log = options.log.child({ lane, market });
  const stopping = new AbortController();
  const running = new Set<Promise<void>>();
  /** Resolves when a slot becomes free. */
  let freed = Promise.withResolvers<void>();
  /**
   * Creation time of the stream. An acknowledgement for a message of a deleted stream would apply
   * to the message with the same sequence number in the new stream.
   */
  let streamCreatedAt = 0;

  const acknowledge = (message: Msg, deliveredFrom: number, payload: string): void => {
    if (!message.reply || Math.abs(deliveredFrom - streamCreatedAt) > creationToleranceMs) return;
    try {
      connection.current()?.nc.publish(message.reply, payload);
    } catch {
      // The connection is lost, so the message will be redelivered.
    }
  };

  const run = async (message: Msg): Promise<void> => {
    const deliveredFrom = streamCreatedAt;
    const reference = decode(message, lane, market);
    if (reference === null) {
      log.error({ bytes: message.data.length }, 'invalid message discarded');
      return acknowledge(message, deliveredFrom, '+TERM');
    }
    let extendedAt = clock.steady();
    const extend = (): void => {
      if (clock.steady() - extendedAt < timing.ackWaitMs / 10) return;
      extendedAt = clock.steady();
      acknowledge(message, deliveredFrom, '+WPI');
    };
    try {
      await handle(reference, extend);
    } catch (error) {
      return acknowledge(
        message,
        deliveredFrom,
        afterRejection(reference, error, deliveriesOf(message)),
      );
    }
    acknowledge(message, deliveredFrom, '+ACK');
  };

  const afterRejection = (
    reference: BatchReference,
    thrown: unknown,
    deliveries: number,
  ): string => {
    const { batchId, attempt } = reference;
    const { message: error } = Fault.from(thrown);
    const delayMs = redeliveryDelayMs(thrown, deliveries);
    if (delayMs === null) {
      log.error({ batchId, attempt, error }, 'message dropped');
      return '+TERM';
    }
    log.warn(
      {
        batchId,
        attempt,
        error,
        delayMs,
      },
      'message requeued',
    );
    return `-NAK ${JSON.stringify({ delay: nanos(delayMs) })}`;
  };

  const take = (message: Msg): void => {
    // Delivered while stopping: released to another consumer immediately.
    if (stopping.signal.aborted) {
      acknowledge(message, streamCreatedAt, '-NAK');
      return;
    }
    const done: Promise<void> = run(message).finally(() => {
      running.delete(done);
      freed.resolve();
    });
    running.add(done);
  };

  /** Pulls while there are free slots, until the consumer is lost or the signal is aborted. */
  const pullMessages = async (session: ConnectionSession, signal: AbortSignal): Promise<void> => {
    while (!signal.aborted) {
      if (running.size >= concurrency) {
        freed = Promise.withResolvers();
        await orAborted(freed.promise, signal).catch(() => {});
        continue;
      }
      const { pullMs, heartbeatMs } = timing;
      const count = concurrency - running.size;
      const request = {
        stream: stream.name,
        consumer: name,
        count,
        pullMs,
        heartbeatMs,
      };
      const end = await pull(session, request, clock, signal, take);
      if (end === 'silent') log.warn('pull request lost');
      if (end !== 'filled' && end !== 'expired') return;
    }
  };

  /** Resolves when the consumer must be created again. Deletes a stalled consumer first. */
  const watch = async (
    session: ConnectionSession,
    isReplicated: boolean,
    signal: AbortSignal,
  ): Promise<void> => {
    const stallReason = detectStall(timing);
    let hasReplicas = isReplicated;
    while (!signal.aborted) {
      await clock.sleep(timing.watchMs, signal);
      if (!hasReplicas) hasReplicas = (await ensureStream(session, stream, log)).isReplicated;
      const info = await readConsumer(session, stream.name, name);
      if (info === null) return log.warn('consumer lost');
      const reason = stallReason({
        at: clock.now(),
        created: info.created,
        delivered: info.delivered.consumer_seq,
        pending: info.num_pending,
        ackPending: info.num_ack_pending,
        concurrency,
        running: running.size,
      });
      if (reason === null) continue;
      const { num_pending: pending, num_ack_pending: ackPending } = info;
      log.warn({ reason, pending, ackPending }, 'consumer recreated');
      await session.jsm.consumers.delete(stream.name, name);
      return;
    }
  };

  const serve = async (session: ConnectionSession): Promise<void> => {
    const { createdAt, isReplicated } = await ensureStream(session, stream, log);
    streamCreatedAt = createdAt;
    await ensureConsumer(session, stream.name, settings);
    const ending = new AbortController();
    const signal = AbortSignal.any([ending.signal, stopping.signal, session.ended]);
    const end = () => ending.abort();
    // A failed query means that the server is busy or unavailable; the pull requests tell which.
    const watching = watch(session, isReplicated, signal)
      .catch(() => {})
      .finally(end);
    await pullMessages(session, signal).finally(end);
    await watching;
  };

  const consuming = serveRepeatedly(
    {
      open: () => connection.ready(stopping.signal),
      serve,
      onError: (error) => log.warn({ error }, 'consumer not ready, retrying'),
      backOff,
      clock,
    },
    stopping.signal,
  );

  return {
    async stop() {
      stopping.abort(new Error('the consumer is stopped'));
      await consuming;
      await Promise.all(running);
    },
  };
}

/**
 * Returns how often a message was delivered, this time included, from its acknowledgement subject.
 */
function deliveriesOf({ reply }: Msg): number {
  const tokens = (reply ?? '').split('.');
  // `$JS.ACK.<stream>.<consumer>.<deliveries>…`, or with domain and account hash after ACK.
  return Number(tokens.length > 9 ? tokens[6] : tokens[4]) || 1;
}
