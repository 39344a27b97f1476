import { AsyncLocalStorage } from 'node:async_hooks';
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import type { Socket } from 'node:net';
import {
  type ConnectionOptions,
  connect,
  type JetStreamClient,
  type JetStreamManager,
  type NatsConnection,
} from 'nats';
import { withTimeout } from '../../base/abort.ts';
import type { Clock } from '../../base/clock.ts';
import { ConfigError } from '../../base/config.ts';
import type { Log } from '../../base/log.ts';
import { Fault } from '../../contract/fault.ts';
import { serveRepeatedly } from './serve-repeatedly.ts';

/**
 * Parses NATS_URL: one or more servers of a cluster, separated by commas, as
 * `nats://[user:password@|token@]host[:port]` or `tls://…`. The first credentials found apply to
 * all servers. Throws a ConfigError that never contains the credentials.
 */
export function parseAddress(
  text: string,
): Pick<ConnectionOptions, 'servers' | 'user' | 'pass' | 'token' | 'tls'> {
  const urls = text.split(',').map((part) => {
    const url = URL.parse(part.includes('://') ? part.trim() : `nats://${part.trim()}`);
    if (url === null || !/^(nats|tls):$/.test(url.protocol) || url.hostname === '') {
      throw new ConfigError(
        'NATS_URL: expected addresses such as nats://host:4222, separated by commas',
      );
    }
    return url;
  });
  const withCredentials = urls.find((url) => url.username !== '');
  return {
    servers: urls.map((url) => url.host),
    ...(urls.some((url) => url.protocol === 'tls:') ? { tls: {} } : {}),
    ...credentials(withCredentials),
  };
}

function credentials(url: URL | undefined): Pick<ConnectionOptions, 'user' | 'pass' | 'token'> {
  if (!url) return {};
  const user = decodeURIComponent(url.username);
  if (url.password === '') return { token: user };
  return { user, pass: decodeURIComponent(url.password) };
}

/** One connection, from its establishment to its loss. */
export interface ConnectionSession {
  nc: NatsConnection;
  js: JetStreamClient;
  jsm: JetStreamManager;
  /** Aborted when the connection is lost. */
  ended: AbortSignal;
}

/** A connection to the server that is reestablished until it is closed. */
export interface JetStreamConnection {
  /** Returns the current session, or null while disconnected. */
  current(): ConnectionSession | null;
  /** Returns the time at which the last session ended, or of the start; null while connected. */
  lostAt(): number | null;
  /** Resolves with the current or next session; rejects with the signal's reason. */
  ready(signal: AbortSignal): Promise<ConnectionSession>;
  /** Flushes pending messages if the server accepts them, then disconnects permanently. */
  close(): Promise<void>;
}

const backOff = { firstMs: 100, maxMs: 2_000 };
const connectTimeoutMs = 3_000;
/** Maximum wait for an unresponsive server when closing. */
const drainTimeoutMs = 2_000;

/**
 * Connects in the background and reconnects whenever the connection is lost. The client's own
 * reconnect is disabled because it buffers requests and messages during an outage, while ours must
 * fail immediately. Throws ConfigError for an invalid address.
 */
export function openConnection(options: {
  url: string;
  requestMs: number;
  clock: Clock;
  log: Log;
}): JetStreamConnection {
  const { requestMs, clock, log } = options;
  const address = parseAddress(options.url);
  const closing = new AbortController();
  let session: ConnectionSession | null = null;
  let lostAt = clock.steady();
  let next = Promise.withResolvers<ConnectionSession>();

  const dial = (): Promise<NatsConnection> =>
    closingOnFailure(() =>
      connect({
        ...address,
        name: 'gleaner',
        reconnect: false,
        timeout: connectTimeoutMs,
        pingInterval: 10_000,
        maxPingOut: 2,
      }),
    );

  const serve = async (nc: NatsConnection): Promise<void> => {
    const ended = new AbortController();
    session = {
      nc,
      js: nc.jetstream({ timeout: requestMs }),
      // The check would reject a server whose JetStream is still starting.
      jsm: await nc.jetstreamManager({ timeout: requestMs, checkAPI: false }),
      ended: ended.signal,
    };
    next.resolve(session);
    const error = await nc.closed();
    session = null;
    lostAt = clock.steady();
    next = Promise.withResolvers();
    ended.abort(unreachable(error));
  };

  const server = [address.servers].flat().join(',');
  const serveUntilLost = async (nc: NatsConnection): Promise<void> => {
    log.info({ server: nc.getServer(), version: nc.info?.version }, 'connected to NATS');
    const serving = serve(nc);
    if (closing.signal.aborted) await nc.close();
    await serving;
    if (!closing.signal.aborted) log.warn({ server }, 'connection to NATS lost');
  };
  const running = serveRepeatedly(
    {
      open: dial,
      serve: serveUntilLost,
      onError: (error) => log.warn({ server, error }, 'NATS unreachable, retrying'),
      backOff,
      clock,
    },
    closing.signal,
  );

  return {
    current: () => session,
    lostAt: () => (session === null ? lostAt : null),
    ready: async (signal) => session ?? orAborted(next.promise, signal),
    async close() {
      closing.abort(unreachable());
      const last = session;
      if (last) {
        await withTimeout(drainTimeoutMs, 'draining', last.nc.drain()).catch(() => {});
        await last.nc.close();
      }
      await running;
    },
  };
}

/**
 * Runs an attempt to connect, and destroys its sockets if it fails. The client leaves the socket of
 * an attempt that timed out before the server's greeting open, for as long as the server does,
 * which keeps the process running.
 */
async function closingOnFailure<T>(attempt: () => Promise<T>): Promise<T> {
  const owner = new AsyncLocalStorage<true>();
  const sockets: Socket[] = [];
  const observe = (event: unknown) => {
    if (owner.getStore()) sockets.push((event as { socket: Socket }).socket);
  };
  subscribe('net.client.socket', observe);
  try {
    return await owner.run(true, attempt);
  } catch (error) {
    for (const socket of sockets) socket.destroy();
    throw error;
  } finally {
    unsubscribe('net.client.socket', observe);
  }
}

/** Creates the Fault for an unreachable server. */
export function unreachable(cause?: unknown): Fault {
  return new Fault('unavailable', 'NATS is not reachable.', { component: 'queue', cause });
}

/** Settles like the promise, or rejects with the signal's reason once it is aborted. */
export function orAborted<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const abort = () => reject(signal.reason);
    if (signal.aborted) abort();
    signal.addEventListener('abort', abort, { once: true });
    promise.then(resolve, reject).finally(() => signal.removeEventListener('abort', abort));
  });
}
