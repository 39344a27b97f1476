import { Agent, type Dispatcher } from 'undici';
import type { Clock } from '../base/clock.ts';
import type { Origins } from '../base/origins.ts';
import type { FaultCode } from '../contract/fault.ts';
import { guardedLookup, type ResolveName } from './address.ts';
import { maxHeaderBytes } from './exchange.ts';
import { createProxyPool, type ProxyPool } from './proxy-pool.ts';
import { createTunnelConnector, parseProxyUrl } from './tunnel.ts';

/** Route of one request. */
export interface ProxyRoute {
  dispatcher: Dispatcher;
  /** Reports the result of the request: a fault code, or null for a response. */
  report(code: FaultCode | null): void;
  /** Index of the proxy, undefined without one; the next request of the session passes it to `select`. */
  proxy: number | undefined;
}

/** Routes to sites: direct, or through a market's proxies. */
export interface ProxyRoutes {
  /** Returns the route of a request. `guarded`: restricts it to the public internet. `previous`: the proxy of the last
   *  request. */
  select(market: string, guarded: boolean, previous: number | undefined): ProxyRoute;
  /** Closes all connections. */
  close(): Promise<void>;
}

/** Options for createProxyRoutes(). */
export interface ProxyRouteOptions {
  origins: Origins;
  clock: Clock;
  connectMs: number;
  idleMs: number;
  resolve?: ResolveName | undefined;
}

/** Proxies of a market, with one agent per proxy. */
interface MarketProxies {
  pool: ProxyPool;
  open: Agent[];
  guarded: Agent[];
}

const ignoreReport = () => {};

/** Creates the routes. Each route has its own pool of persistent connections, with HTTP/2 for https sites that offer it. */
export function createProxyRoutes({
  origins,
  clock,
  connectMs,
  idleMs,
  resolve,
}: ProxyRouteOptions): ProxyRoutes {
  const pool = {
    connectTimeout: connectMs,
    headersTimeout: idleMs,
    bodyTimeout: idleMs,
    maxHeaderSize: maxHeaderBytes,
    allowH2: true,
  };
  const lookup = guardedLookup(resolve);
  const open = new Agent({ ...pool, connect: { preferH2: true } });
  const guarded = new Agent({ ...pool, connect: { preferH2: true, lookup, timeout: connectMs } });
  const proxied = new Map<string, MarketProxies>();
  for (const [market, { proxies }] of origins) {
    if (proxies.length === 0) continue;
    const addresses = proxies.map(parseProxyUrl);
    const createAgents = (options: object) =>
      addresses.map(
        (proxy) => new Agent({ ...pool, connect: createTunnelConnector(proxy, { connectMs, ...options }) }),
      );
    proxied.set(market, {
      pool: createProxyPool(addresses.length, clock),
      open: createAgents({}),
      guarded: createAgents({ lookup }),
    });
  }

  return {
    select: (market, isGuarded, previous) => {
      const proxies = proxied.get(market);
      if (!proxies) {
        return { dispatcher: isGuarded ? guarded : open, report: ignoreReport, proxy: undefined };
      }
      const proxy = proxies.pool.pick(previous);
      return {
        dispatcher: (isGuarded ? proxies.guarded : proxies.open)[proxy]!,
        proxy,
        report: (code) => {
          if (code === null) proxies.pool.report(proxy, 'responded');
          else if (code === 'proxy_failed') proxies.pool.report(proxy, 'failed');
          else if (code === 'network' || code === 'page_timeout') proxies.pool.report(proxy, 'no_response');
        },
      };
    },
    close: async () => {
      const agents = [...proxied.values()].flatMap((proxies) => [...proxies.open, ...proxies.guarded]);
      await Promise.all([open, guarded, ...agents].map((agent) => agent.destroy()));
    },
  };
}
