import type { Origins } from '../base/origins.ts';
import type { Fetcher } from './http.ts';
import { type FetchSort, fetchSortOf } from './policy.ts';

/** Makes one fetcher of both: each market's pages come from the one that the origins file names. */
export function chooseFetcher(origins: Origins, fetchers: Readonly<Record<FetchSort, Fetcher>>): Fetcher {
  const fetcherOf = (market: string) => fetchers[fetchSortOf(origins.get(market))];
  return {
    for: (market, region, signal, share) => fetcherOf(market).for(market, region, signal, share),
    originOf: (market, region, request) => fetcherOf(market).originOf(market, region, request),
    forget: (market, region) => fetcherOf(market).forget(market, region),
    close: async () => {
      await Promise.all(Object.values(fetchers).map((fetcher) => fetcher.close()));
    },
  };
}
