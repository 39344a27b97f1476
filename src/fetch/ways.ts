import { Agent, type Dispatcher } from 'undici';
import type { Clock } from '../base/clock.ts';
import type { Origins } from '../base/origins.ts';
import type { FaultCode } from '../contract/fault.ts';
import { guardedLookup, type ResolveName } from './address.ts';
import { mostHeaderBytes } from './exchange.ts';
import { createProxyPool, type ProxyPool } from './proxies.ts';
import { proxyAddress, tunnelConnector } from './tunnel.ts';

/** The way that one request takes out. */
export interface Way {
  dispatcher: Dispatcher;
  /** Takes what it came to: the code of a fault, or null for an answer. */
  took(code: FaultCode | null): void;
  /** To be named when the next request shall take the same way. */
  proxy: number | undefined;
}

/** The ways out: straight, or through a market's proxies. */
export interface Ways {
  /** `guarded`: to the public internet only. `before`: the proxy of the request before. */
  out(market: string, guarded: boolean, before: number | undefined): Way;
  /** Ends every connection. */
  close(): Promise<void>;
}

/** What connections are held to. */
export interface WayOptions {
  origins: Origins;
  clock: Clock;
  connectMs: number;
  idleMs: number;
  resolve?: ResolveName | undefined;
}

/** A market's proxies, and its connections through each. */
interface Proxied {
  pool: ProxyPool;
  open: Agent[];
  guarded: Agent[];
}

const straight = () => {};

/**
 * Makes the ways out. Connections are pooled and kept, for each way by itself; HTTP/2 where a secure site
 * offers it.
 */
export function createWays({ origins, clock, connectMs, idleMs, resolve }: WayOptions): Ways {
  const pool = {
    connectTimeout: connectMs,
    headersTimeout: idleMs,
    bodyTimeout: idleMs,
    maxHeaderSize: mostHeaderBytes,
    allowH2: true,
  };
  const lookup = guardedLookup(resolve);
  const open = new Agent({ ...pool, connect: { preferH2: true } });
  const guarded = new Agent({ ...pool, connect: { preferH2: true, lookup, timeout: connectMs } });
  const proxied = new Map<string, Proxied>();
  for (const [market, { proxies }] of origins) {
    if (proxies.length === 0) continue;
    const addresses = proxies.map(proxyAddress);
    const through = (options: object) =>
      addresses.map(
        (proxy) => new Agent({ ...pool, connect: tunnelConnector(proxy, { connectMs, ...options }) }),
      );
    proxied.set(market, {
      pool: createProxyPool(addresses.length, clock),
      open: through({}),
      guarded: through({ lookup }),
    });
  }

  return {
    out: (market, isGuarded, before) => {
      const ways = proxied.get(market);
      if (!ways) return { dispatcher: isGuarded ? guarded : open, took: straight, proxy: undefined };
      const proxy = ways.pool.pick(before);
      return {
        dispatcher: (isGuarded ? ways.guarded : ways.open)[proxy]!,
        proxy,
        took: (code) => {
          if (code === null) ways.pool.report(proxy, 'answered');
          else if (code === 'proxy_failed') ways.pool.report(proxy, 'failed');
          else if (code === 'network' || code === 'page_timeout') ways.pool.report(proxy, 'unanswered');
        },
      };
    },
    close: async () => {
      const agents = [...proxied.values()].flatMap((ways) => [...ways.open, ...ways.guarded]);
      await Promise.all([open, guarded, ...agents].map((agent) => agent.destroy()));
    },
  };
}
