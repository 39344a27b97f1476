import type { LookupFunction, Socket } from 'node:net';
import type { Clock } from '../../base/clock.ts';
import { Fault } from '../../contract/fault.ts';
import { createProxyPool, type ProxyReport } from '../proxy-pool.ts';
import { createTunnelConnector, parseProxyUrl } from '../tunnel.ts';
import type { ConnectSocket } from './egress.ts';

const connectMs = 10_000;

/** Classifies a failed connection for the proxy pool. */
function reportOf(error: unknown): ProxyReport {
  return error instanceof Fault && error.code === 'proxy_failed' ? 'failed' : 'no_response';
}

/**
 * Creates a connect function that uses a market's proxies. It keeps a proxy while it is healthy, so that a session does
 * not change its address. Connections fail with `proxy_failed` if the proxy does.
 */
export function createProxiedConnect(proxies: readonly string[], clock: Clock): ConnectSocket {
  const addresses = proxies.map(parseProxyUrl);
  const pool = createProxyPool(addresses.length, clock);
  let previous: number | undefined;

  const connect = (index: number, host: string, port: number, lookup: LookupFunction | undefined) => {
    const connector = createTunnelConnector(addresses[index]!, { connectMs, ...(lookup ? { lookup } : {}) });
    return new Promise<Socket>((resolve, reject) => {
      // Always 'http:': the browser encrypts the connection itself.
      connector({ protocol: 'http:', hostname: host, port: String(port) }, (error, socket) =>
        error ? reject(error) : resolve(socket as Socket),
      );
    });
  };

  return async (host, port, lookup) => {
    const index = pool.pick(previous);
    previous = index;
    try {
      const socket = await connect(index, host, port, lookup);
      pool.report(index, 'responded');
      return socket;
    } catch (error) {
      pool.report(index, reportOf(error));
      throw error;
    }
  };
}
