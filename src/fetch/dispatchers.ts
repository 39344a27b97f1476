import { Agent, type Dispatcher } from 'undici';
import type { Origins } from '../base/origins.ts';
import { guardedLookup, type ResolveName } from './address.ts';
import { maxHeaderBytes } from './http-request.ts';
import { createProxyConnector } from './proxy.ts';

/** Connections to sites: direct, or through the proxies of markets. */
export interface Dispatchers {
  /** Returns the connections of a market. If `guarded`, they reach only the public internet. */
  select(market: string, guarded: boolean): Dispatcher;
  /** Closes all connections. */
  close(): Promise<void>;
}

/** Options for createDispatchers(). */
export interface DispatcherOptions {
  origins: Origins;
  /** Timeouts of a connection and of a connection without data, in milliseconds. */
  connectMs: number;
  idleMs: number;
  resolve?: ResolveName | undefined;
}

/**
 * Creates pools of persistent connections, one for direct ones and one per proxy, with HTTP/2 for
 * https sites that job type it.
 */
export function createDispatchers({
  origins,
  connectMs,
  idleMs,
  resolve,
}: DispatcherOptions): Dispatchers {
  const lookup = guardedLookup(resolve);
  const createAgent = (connect: NonNullable<Agent.Options['connect']>) =>
    new Agent({
      connectTimeout: connectMs,
      headersTimeout: idleMs,
      bodyTimeout: idleMs,
      maxHeaderSize: maxHeaderBytes,
      allowH2: true,
      connect,
    });
  const direct = {
    open: createAgent({ preferH2: true }),
    guarded: createAgent({ preferH2: true, lookup, timeout: connectMs }),
  };
  const proxied = new Map(
    [...origins].flatMap(([market, { proxy }]) => {
      if (proxy === undefined) return [];
      const open = createAgent(createProxyConnector(proxy, { connectMs }));
      const guarded = createAgent(createProxyConnector(proxy, { connectMs, lookup }));
      return [[market, { open, guarded }] as const];
    }),
  );
  return {
    select: (market, guarded) => (proxied.get(market) ?? direct)[guarded ? 'guarded' : 'open'],
    close: async () => {
      const agents = [direct, ...proxied.values()].flatMap(({ open, guarded }) => [open, guarded]);
      await Promise.all(agents.map((agent) => agent.destroy()));
    },
  };
}
