import type { Market } from './market.ts';

/**
 * The market, accepting URLs of these hosts only (decisions, "mkta URLs": the `hosts` list of the
 * origins file). Without a list the market decides alone.
 */
export function withHosts(market: Market, hosts: readonly string[] | undefined): Market {
  const { parseUrl } = market;
  if (hosts === undefined || parseUrl === undefined) return market;
  const accepted = new Set(hosts.map((host) => host.toLowerCase()));
  return {
    ...market,
    parseUrl(page, url) {
      const parsed = parseUrl(page, url);
      const { hostname } = new URL(url);
      if (!accepted.has(hostname))
        throw new Error(`'${hostname}' is not one of the hosts ${[...accepted].join(', ')}`);
      return parsed;
    },
  };
}
