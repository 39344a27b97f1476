import { connect, type JetStreamClient, type JetStreamManager, type NatsConnection } from 'nats';
import { type Clock, systemClock } from '../../base/clock.ts';
import { Fault } from '../../base/fault.ts';
import type { Log } from '../../base/log.ts';
import { parseAddress } from './address.ts';

/** One connection, from when it was made to when it was lost. */
export interface Session {
  nc: NatsConnection;
  js: JetStreamClient;
  jsm: JetStreamManager;
  /** Aborted when the connection is lost. */
  ended: AbortSignal;
}

/** The way to the server: there or not, and made again for as long as it is not closed. */
export interface Link {
  /** The session there is; null while the server is away. */
  current(): Session | null;
  /** Resolves with a session once there is one; rejects with the signal's reason. */
  ready(signal: AbortSignal): Promise<Session>;
  /** Sends what is under way, as far as the server takes it, and disconnects for good. */
  close(): Promise<void>;
}

const firstPauseMs = 100;
const longestPauseMs = 2_000;
const dialMs = 3_000;
/** Most that closing waits for a server that has stopped to answer. */
const drainMs = 2_000;

/**
 * Connects in the background, and again whenever the connection is lost. The client's own reconnect
 * stays unused: it keeps requests and messages of a lost connection for later, where we want them
 * to fail now. Throws ConfigError for an address that can't be one.
 */
export function openLink(options: { url: string; requestMs: number; clock: Clock; log: Log }): Link {
  const { requestMs, clock, log } = options;
  const address = parseAddress(options.url);
  const closing = new AbortController();
  let session: Session | null = null;
  let coming = Promise.withResolvers<Session>();

  const dial = async (): Promise<NatsConnection> =>
    connect({
      ...address,
      name: 'gleaner',
      reconnect: false,
      timeout: dialMs,
      pingInterval: 10_000,
      maxPingOut: 2,
    });

  const serve = async (nc: NatsConnection): Promise<void> => {
    const ended = new AbortController();
    session = {
      nc,
      js: nc.jetstream({ timeout: requestMs }),
      // Without the client's own check: a server whose JetStream is not up yet is a server.
      jsm: await nc.jetstreamManager({ timeout: requestMs, checkAPI: false }),
      ended: ended.signal,
    };
    coming.resolve(session);
    const error = await nc.closed();
    session = null;
    coming = Promise.withResolvers();
    ended.abort(unreachable(error));
  };

  const run = async (): Promise<void> => {
    const server = [address.servers].flat().join(',');
    let pauseMs = firstPauseMs;
    let said = '';
    while (!closing.signal.aborted) {
      try {
        const nc = await dial();
        const since = clock.now();
        log.info({ server: nc.getServer(), version: nc.info?.version }, 'connected to NATS');
        said = '';
        const serving = serve(nc);
        if (closing.signal.aborted) await nc.close();
        await serving;
        if (clock.now() - since > longestPauseMs) pauseMs = firstPauseMs;
        if (!closing.signal.aborted) log.warn({ server }, 'connection to NATS lost');
      } catch (error) {
        const reason = (error as Error).message;
        if (reason !== said) log.warn({ server, error: reason }, 'NATS is not reachable; trying on');
        said = reason;
      }
      await clock.sleep(pauseMs, closing.signal).catch(() => {});
      pauseMs = Math.min(pauseMs * 2, longestPauseMs);
    }
  };
  const running = run();

  return {
    current: () => session,
    ready: async (signal) => session ?? orAborted(coming.promise, signal),
    async close() {
      closing.abort(unreachable());
      const last = session;
      if (last) {
        const patience = new AbortController();
        const late = systemClock.sleep(drainMs, patience.signal).catch(() => {});
        await Promise.race([last.nc.drain().catch(() => {}), late]);
        patience.abort();
        await last.nc.close();
      }
      await running;
    },
  };
}

/** The fault for a server that is away. */
export function unreachable(cause?: unknown): Fault {
  return new Fault('unavailable', 'NATS is not reachable.', { component: 'queue', cause });
}

/** What the promise gives, or the signal's reason once that is aborted. */
export function orAborted<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const abort = () => reject(signal.reason);
    if (signal.aborted) abort();
    signal.addEventListener('abort', abort, { once: true });
    promise.then(resolve, reject).finally(() => signal.removeEventListener('abort', abort));
  });
}
