import { createInbox, type Msg, nanos } from 'nats';
import type { Clock } from '../../base/clock.ts';
import { type ConnectionSession, orAborted } from './connection.ts';

/**
 * Outcome of a pull request. `filled`: all requested messages arrived. `expired`: the server ended
 * it. `refused`: the consumer does not exist or cannot be served now. `silent`: heartbeats are
 * missing. `stopped`: the signal was aborted or the connection was lost.
 */
export type PullEnd = 'filled' | 'expired' | 'refused' | 'silent' | 'stopped';

/** One pull request. */
export interface Pull {
  stream: string;
  consumer: string;
  /** Messages requested. */
  count: number;
  pullMs: number;
  heartbeatMs: number;
}

/**
 * Sends one pull request and passes messages to `take` as they arrive, including those in flight
 * when the signal is aborted. Implements the wire protocol instead of using the client's consumer,
 * which renews requests automatically and does not report a lost or stalled consumer.
 */
export async function pull(
  session: ConnectionSession,
  request: Pull,
  clock: Clock,
  signal: AbortSignal,
  take: (message: Msg) => void,
): Promise<PullEnd> {
  const { nc } = session;
  const { promise, resolve } = Promise.withResolvers<PullEnd>();
  const inbox = createInbox();
  let remaining = request.count;
  let lastHeardAt = clock.steady();
  const subscription = nc.subscribe(inbox, {
    callback: (error, message) => {
      if (error) return resolve('refused');
      lastHeardAt = clock.steady();
      if (message.subject !== inbox) {
        remaining -= 1;
        take(message);
        if (remaining === 0) resolve('filled');
        return;
      }
      const end = readStatus(message);
      if (end) resolve(end);
    },
  });
  const ended = new AbortController();
  const stop = () => resolve('stopped');
  const stopping = AbortSignal.any([signal, session.ended]);
  stopping.addEventListener('abort', stop, { once: true });
  if (stopping.aborted) stop();
  else {
    const { stream, consumer, pullMs, heartbeatMs } = request;
    const payload = {
      batch: remaining,
      expires: nanos(pullMs),
      idle_heartbeat: nanos(heartbeatMs),
    };
    nc.publish(`$JS.API.CONSUMER.MSG.NEXT.${stream}.${consumer}`, JSON.stringify(payload), {
      reply: inbox,
    });
    void watchHeartbeats(request.heartbeatMs, clock, ended.signal, () => lastHeardAt, resolve);
  }
  const end = await promise;
  ended.abort();
  stopping.removeEventListener('abort', stop);
  if (end === 'filled' || session.ended.aborted) subscription.unsubscribe();
  // drain() never settles if the connection is lost.
  else await orAborted(subscription.drain(), session.ended).catch(() => {});
  return end;
}

/** Resolves a pull as silent when two consecutive heartbeats are missing. */
async function watchHeartbeats(
  heartbeatMs: number,
  clock: Clock,
  ended: AbortSignal,
  lastHeardAt: () => number,
  resolve: (end: PullEnd) => void,
): Promise<void> {
  while (!ended.aborted) {
    await clock.sleep(heartbeatMs, ended).catch(() => {});
    if (clock.steady() - lastHeardAt() > heartbeatMs * 2.5) resolve('silent');
  }
}

/** Returns the outcome that a status message announces, or null for a heartbeat. */
function readStatus({ headers }: Msg): PullEnd | null {
  if (headers?.code === 100) return null;
  return headers?.code === 408 ? 'expired' : 'refused';
}
