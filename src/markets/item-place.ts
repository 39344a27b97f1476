import { noRegion } from '../contract/track.ts';
import { markets } from './list.ts';
import type { Market } from './market.ts';

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
  markets.find(({ name }) => name === market)?.storeOf?.(unitKey);

/** Returns the displayed region and store of an item: `-` without a region, '' without a store. */
export function shownPlace({ market, region }: { market: string; region: string }): {
  region: string;
  store: string;
} {
  if (storeMarkets.includes(market)) return { region: noRegion, store: region };
  return { region: region === '' ? noRegion : region, store: '' };
}
