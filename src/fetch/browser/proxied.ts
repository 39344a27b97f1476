import type { LookupFunction, Socket } from 'node:net';
import type { Clock } from '../../base/clock.ts';
import { Fault } from '../../contract/fault.ts';
import { createProxyPool, type ProxyReport } from '../proxies.ts';
import { proxyAddress, tunnelConnector } from '../tunnel.ts';
import type { Connect } from './egress.ts';

const connectMs = 10_000;

/** What a connection that failed says of the proxy. */
function blame(error: unknown): ProxyReport {
  return error instanceof Fault && error.code === 'proxy_failed' ? 'failed' : 'unanswered';
}

/**
 * Makes connections through a market's proxies, the same one for as long as it does well, so that a
 * visitor does not come from here and there. Faults: `proxy_failed`.
 */
export function connectThrough(proxies: readonly string[], clock: Clock): Connect {
  const addresses = proxies.map(proxyAddress);
  const pool = createProxyPool(addresses.length, clock);
  let before: number | undefined;

  const tunnel = (index: number, host: string, port: number, lookup: LookupFunction | undefined) => {
    const connector = tunnelConnector(addresses[index]!, { connectMs, ...(lookup ? { lookup } : {}) });
    return new Promise<Socket>((resolve, reject) => {
      // Plain, whatever is spoken inside: encryption is between the browser and the site.
      connector({ protocol: 'http:', hostname: host, port: String(port) }, (error, socket) =>
        error ? reject(error) : resolve(socket as Socket),
      );
    });
  };

  return async (host, port, lookup) => {
    const index = pool.pick(before);
    before = index;
    try {
      const socket = await tunnel(index, host, port, lookup);
      pool.report(index, 'answered');
      return socket;
    } catch (error) {
      pool.report(index, blame(error));
      throw error;
    }
  };
}
