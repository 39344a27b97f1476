import { type Msg, nanos } from 'nats';
import type { Clock } from '../../base/clock.ts';
import { Fault } from '../../base/fault.ts';
import type { Log } from '../../base/log.ts';
import type { BatchReference } from '../../store/documents.ts';
import type { Consumer, Queue } from '../queue.ts';
import { redeliveryDelayMs } from '../redelivery.ts';
import { type Link, orAborted, type Session } from './link.ts';
import { decode } from './message.ts';
import { pull } from './pull.ts';
import { watchForStillness } from './still.ts';
import type { Timing } from './timing.ts';
import {
  type ConsumerWish,
  consumerOf,
  ensureConsumer,
  ensureStream,
  readConsumer,
  type StreamWish,
} from './topology.ts';

/** What a consumer is handed. */
export interface ConsumerOptions {
  link: Link;
  stream: StreamWish;
  wish: ConsumerWish;
  timing: Timing;
  clock: Clock;
  log: Log;
  handle: Parameters<Queue['consume']>[3];
}

const firstPauseMs = 100;
const longestPauseMs = 5_000;
/** A server that was started again says another time for the same stream, microseconds away. */
const sameMomentMs = 20;

/**
 * Consumes one lane and market until stopped, through lost connections, lost streams and lost
 * consumers: whatever is missing is made again, and what stands still is made anew. Concurrency over
 * all processes is the engine's limit of messages in hand; in this process it is kept here too, as a
 * consumer that was made anew gives out again what is still being handled.
 */
export function startConsumer(options: ConsumerOptions): Consumer {
  const { link, stream, wish, timing, clock, handle } = options;
  const { lane, market, concurrency } = wish;
  const name = consumerOf(lane, market);
  const log = options.log.child({ lane, market });
  const stopping = new AbortController();
  const running = new Set<Promise<void>>();
  /** When the stream was made. An answer about a message of one that is gone would be taken for one
   *  about another message, which has the same number in the new stream. */
  let streamMade = 0;

  const answer = (message: Msg, deliveredFrom: number, words: string): void => {
    if (!message.reply || Math.abs(deliveredFrom - streamMade) > sameMomentMs) return;
    try {
      link.current()?.nc.publish(message.reply, words);
    } catch {
      // The connection is being lost: the message comes again.
    }
  };

  const run = async (message: Msg): Promise<void> => {
    const deliveredFrom = streamMade;
    const reference = decode(message.data, lane, market);
    if (reference === null) {
      log.error({ bytes: message.data.length }, 'a message that is none of ours was thrown away');
      return answer(message, deliveredFrom, '+TERM');
    }
    let extended = clock.now();
    const extend = (): void => {
      if (clock.now() - extended < timing.ackWaitMs / 10) return;
      extended = clock.now();
      answer(message, deliveredFrom, '+WPI');
    };
    try {
      await handle(reference, extend);
    } catch (error) {
      return answer(message, deliveredFrom, afterRejection(reference, error, readDeliveries(message)));
    }
    answer(message, deliveredFrom, '+ACK');
  };

  const afterRejection = (reference: BatchReference, thrown: unknown, deliveries: number): string => {
    const { batchId, attempt } = reference;
    const { message: error } = Fault.from(thrown);
    const delayMs = redeliveryDelayMs(thrown, deliveries);
    if (delayMs === null) {
      log.error({ batchId, attempt, error }, 'message given up');
      return '+TERM';
    }
    log.warn({ batchId, attempt, error, delayMs }, 'message comes again');
    return `-NAK ${JSON.stringify({ delay: nanos(delayMs) })}`;
  };

  const take = (message: Msg): void => {
    // On its way when we stopped: someone else can have it at once.
    if (stopping.signal.aborted) {
      answer(message, streamMade, '-NAK');
      return;
    }
    const done: Promise<void> = run(message).finally(() => {
      running.delete(done);
    });
    running.add(done);
  };

  /** Pulls for as long as there is a slot, until the consumer is gone or the signal is aborted. */
  const pullOn = async (session: Session, signal: AbortSignal): Promise<void> => {
    while (!signal.aborted) {
      if (running.size >= concurrency) {
        await orAborted(Promise.race(running), signal).catch(() => {});
        continue;
      }
      const { pullMs, heartbeatMs } = timing;
      const count = concurrency - running.size;
      const request = { stream: stream.name, consumer: name, count, pullMs, heartbeatMs };
      const end = await pull(session, request, clock, signal, take);
      if (end === 'silent') log.warn('no sign of the pull request');
      if (end !== 'filled' && end !== 'expired') return;
    }
  };

  /** Resolves once the consumer has to be made again; a consumer that stands still is removed first. */
  const watch = async (session: Session, enough: boolean, signal: AbortSignal): Promise<void> => {
    const stillness = watchForStillness(timing);
    let replicated = enough;
    while (!signal.aborted) {
      await clock.sleep(timing.watchMs, signal);
      if (!replicated) replicated = (await ensureStream(session, stream, log)).enough;
      const info = await readConsumer(session, stream.name, name);
      if (info === null) return log.warn('consumer lost');
      const reason = stillness({
        at: clock.now(),
        created: info.created,
        delivered: info.delivered.consumer_seq,
        waiting: info.num_pending,
        held: info.num_ack_pending,
        concurrency,
        running: running.size,
      });
      if (reason === null) continue;
      log.warn({ reason, waiting: info.num_pending, held: info.num_ack_pending }, 'consumer made anew');
      await session.jsm.consumers.delete(stream.name, name);
      return;
    }
  };

  const serve = async (session: Session): Promise<void> => {
    const made = await ensureStream(session, stream, log);
    streamMade = made.madeAt;
    await ensureConsumer(session, stream.name, wish);
    const over = new AbortController();
    const signal = AbortSignal.any([over.signal, stopping.signal, session.ended]);
    const end = () => over.abort();
    // A look that fails says that the engine is busy or away; pulling tells which.
    const watching = watch(session, made.enough, signal)
      .catch(() => {})
      .finally(end);
    await pullOn(session, signal).finally(end);
    await watching;
  };

  const consume = async (): Promise<void> => {
    let pauseMs = firstPauseMs;
    let said = '';
    while (!stopping.signal.aborted) {
      try {
        const session = await link.ready(stopping.signal);
        const since = clock.now();
        await serve(session);
        if (clock.now() - since > longestPauseMs) pauseMs = firstPauseMs;
        said = '';
      } catch (error) {
        if (stopping.signal.aborted) break;
        const { message } = Fault.from(error);
        if (message !== said) log.warn({ error: message }, 'consumer is not ready; trying on');
        said = message;
      }
      await clock.sleep(pauseMs, stopping.signal).catch(() => {});
      pauseMs = Math.min(pauseMs * 2, longestPauseMs);
    }
  };
  const consuming = consume();

  return {
    async stop() {
      stopping.abort(new Error('the consumer is stopped'));
      await consuming;
      await Promise.all(running);
    },
  };
}

/** How often a message was delivered, this time included: a word of the subject that answers go to. */
function readDeliveries({ reply }: Msg): number {
  const words = (reply ?? '').split('.');
  // `$JS.ACK.<stream>.<consumer>.<deliveries>…`, or with domain and account in between.
  return Number(words.length > 9 ? words[6] : words[4]) || 1;
}
