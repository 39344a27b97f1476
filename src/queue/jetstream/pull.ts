import { createInbox, type Msg, nanos } from 'nats';
import type { Clock } from '../../base/clock.ts';
import { orAborted, type Session } from './link.ts';

/**
 * How a pull request ended. `filled`: every message asked for came. `expired`: the engine gave it
 * back. `refused`: there is no such consumer, or the engine can't serve it now. `silent`: the engine shows no sign of having it.
 * `stopped`: its signal was aborted or the connection was lost.
 */
export type PullEnd = 'filled' | 'expired' | 'refused' | 'silent' | 'stopped';

/** One pull request. */
export interface Pull {
  stream: string;
  consumer: string;
  /** Messages asked for. */
  count: number;
  pullMs: number;
  heartbeatMs: number;
}

/**
 * Asks the engine for messages once and hands them on as they come, also those that were on their way
 * when the signal was aborted. The protocol is used as it is, not through the client's own consumer:
 * that asks again by itself, and what it does about a consumer that is gone or still is not ours to say.
 */
export async function pull(
  session: Session,
  request: Pull,
  clock: Clock,
  signal: AbortSignal,
  take: (message: Msg) => void,
): Promise<PullEnd> {
  const { nc } = session;
  const { promise, resolve } = Promise.withResolvers<PullEnd>();
  const inbox = createInbox();
  let left = request.count;
  let heard = clock.now();
  const subscription = nc.subscribe(inbox, {
    callback: (error, message) => {
      if (error) return resolve('refused');
      heard = clock.now();
      if (message.subject !== inbox) {
        left -= 1;
        take(message);
        if (left === 0) resolve('filled');
        return;
      }
      const end = readStatus(message);
      if (end) resolve(end);
    },
  });
  const over = new AbortController();
  const stop = () => resolve('stopped');
  const stopping = AbortSignal.any([signal, session.ended]);
  stopping.addEventListener('abort', stop, { once: true });
  if (stopping.aborted) stop();
  else {
    const { stream, consumer, pullMs, heartbeatMs } = request;
    const ask = { batch: left, expires: nanos(pullMs), idle_heartbeat: nanos(heartbeatMs) };
    nc.publish(`$JS.API.CONSUMER.MSG.NEXT.${stream}.${consumer}`, JSON.stringify(ask), { reply: inbox });
    void listen(request.heartbeatMs, clock, over.signal, () => heard, resolve);
  }
  const end = await promise;
  over.abort();
  stopping.removeEventListener('abort', stop);
  if (end === 'filled' || session.ended.aborted) subscription.unsubscribe();
  // A connection that is lost meanwhile never says that the subscription is drained.
  else await orAborted(subscription.drain(), session.ended).catch(() => {});
  return end;
}

/** Resolves a pull as silent when two heartbeats in a row did not come. */
async function listen(
  heartbeatMs: number,
  clock: Clock,
  over: AbortSignal,
  heard: () => number,
  resolve: (end: PullEnd) => void,
): Promise<void> {
  while (!over.aborted) {
    await clock.sleep(heartbeatMs, over).catch(() => {});
    if (clock.now() - heard() > heartbeatMs * 2.5) resolve('silent');
  }
}

/** What a message of the engine itself says; null for a sign of life. */
function readStatus({ headers }: Msg): PullEnd | null {
  if (headers?.code === 100) return null;
  return headers?.code === 408 ? 'expired' : 'refused';
}
