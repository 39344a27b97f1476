import { noRegion } from '../contract/track.ts';
import { defaultMarketLimits, type MarketLimits } from '../fetch/limits.ts';
import type { OriginPolicy } from '../fetch/policy.ts';
import { markets } from './list.ts';
import type { ListedFields, Market } from './market.ts';

const marketNamed = (name: string): Market | undefined =>
  markets.find((market) => market.name === name);

/** Returns the limits of a market's pages and units: its own, otherwise the defaults. */
export function limitsOf(market: Pick<Market, 'limits'> | undefined): MarketLimits {
  return { ...defaultMarketLimits, ...market?.limits };
}

/** Returns the limits of the market with a name; the defaults for an unknown one. */
export const limitsOfMarket = (name: string): MarketLimits => limitsOf(marketNamed(name));

/**
 * Returns the request policy that a market declares for its origins of a region, or an empty one if
 * it declares none.
 */
export function policyOfMarket(name: string, region: string): Partial<OriginPolicy> {
  const market = marketNamed(name);
  return { ...market?.policy, ...market?.regionPolicy?.(region) };
}

/** Listed fields of every market's pages, by market. */
export const listedFields: Readonly<Record<string, ListedFields>> = Object.fromEntries(
  markets.map((market) => [market.name, market.listedFields]),
);

/**
 * Returns the region of the items that a unit lists. In a market whose stores are named by
 * addresses, it is the store, since stores use the same ids for different products.
 */
export const itemRegion = (
  { storeOf }: Pick<Market, 'storeOf'>,
  region: string,
  unitKey: string,
): string => storeOf?.(unitKey) ?? region;

/** Names of the markets whose items belong to stores: those without regions. */
export const storeMarkets: readonly string[] = markets
  .filter(({ storeOf }) => storeOf)
  .map(({ name }) => name);

/** Returns the store of a unit by its key. Undefined in a market whose callers name no stores. */
export const storeOfUnit = (market: string, unitKey: string): string | undefined =>
  marketNamed(market)?.storeOf?.(unitKey);

/** Returns the displayed region and store of an item: `-` without a region, '' without a store. */
export function shownPlace({ market, region }: { market: string; region: string }): {
  region: string;
  store: string;
} {
  if (storeMarkets.includes(market)) return { region: noRegion, store: region };
  return { region: region === '' ? noRegion : region, store: '' };
}
