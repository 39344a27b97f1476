import type { MarketOrigins, Origins } from '../base/origins.ts';
import type { Fetcher } from './http.ts';

/** How pages are got: by plain requests, or by opening them in a browser. */
export type FetchSort = NonNullable<MarketOrigins['fetch']>;

/**
 * How a market's pages are got: as the origins file says, else by plain requests. No market has another
 * default: a browser costs a hundred times as much, and whether a site serves plain requests is known
 * only to who asks it (docs/fetching.md).
 */
export function fetchSortOf(settings: MarketOrigins | undefined): FetchSort {
  return settings?.fetch ?? 'http';
}

/** Makes one fetcher of both: each market's pages come from the one that the origins file names. */
export function chooseFetcher(origins: Origins, fetchers: Readonly<Record<FetchSort, Fetcher>>): Fetcher {
  const fetcherOf = (market: string) => fetchers[fetchSortOf(origins.get(market))];
  return {
    for: (market, region, signal) => fetcherOf(market).for(market, region, signal),
    originOf: (market, region, request) => fetcherOf(market).originOf(market, region, request),
    forget: (market, region) => fetcherOf(market).forget(market, region),
    close: async () => {
      await Promise.all(Object.values(fetchers).map((fetcher) => fetcher.close()));
    },
  };
}
