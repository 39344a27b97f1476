import type { Origins } from '../base/origins.ts';
import type { Market, PageName } from './market.ts';

/**
 * Returns a market that accepts URLs of these hosts only (`hosts` in the origins file). Undefined:
 * the market's own rules apply.
 */
export function withHosts(market: Market, hosts: readonly string[] | undefined): Market {
  const { parseUrl } = market;
  if (hosts === undefined || parseUrl === undefined) return market;
  const accepted = new Set(hosts.map((host) => host.toLowerCase()));
  // Inherits members, as regions can change.
  return Object.assign(Object.create(market) as Market, {
    parseUrl(page: PageName, url: string) {
      const parsed = parseUrl(page, url);
      const { hostname } = new URL(url);
      if (!accepted.has(hostname))
        throw new Error(`'${hostname}' is not one of the hosts ${[...accepted].join(', ')}`);
      return parsed;
    },
  });
}

/**
 * Returns a line for each region of the origins file that its marketplace does not have, and for
 * each address without a region that needs one. Shops may be declared later.
 */
export const findUnknownRegions = (origins: Origins, markets: readonly Market[]): string[] =>
  [...origins].flatMap(([name, { positions }]) => {
    const { regions = [], regionPolicy } = markets.find((market) => market.name === name) ?? {};
    if (regionPolicy !== undefined) return [];
    const choice = regions.length === 0 ? ', which has none' : ` (${regions.join(', ')})`;
    return [...positions]
      .filter(([region]) => !regions.includes(region) && (region !== '' || regions.length > 0))
      .map(([region, position]) =>
        region === ''
          ? `${position}: ${name}: an address needs a region of ${name}${choice}.`
          : `${position}: ${name}.${region}: not a region of ${name}${choice}.`,
      );
  });
