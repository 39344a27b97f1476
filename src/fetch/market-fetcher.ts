import type { Origins } from '../base/origins.ts';
import type { Fetcher } from './http.ts';
import { type FetchMethod, selectFetchMethod } from './policy.ts';

/**
 * Creates a fetcher that uses the method of each market: plain HTTP, or a browser if the origins file says
 * so.
 */
export function createMarketFetcher(
  origins: Origins,
  fetchers: Readonly<Record<FetchMethod, Fetcher>>,
): Fetcher {
  const fetcherOf = (market: string) => fetchers[selectFetchMethod(origins.get(market))];
  return {
    for: (market, region, signal, share) => fetcherOf(market).for(market, region, signal, share),
    originOf: (market, region, request) => fetcherOf(market).originOf(market, region, request),
    discardSession: (market, region) => fetcherOf(market).discardSession(market, region),
    close: async () => {
      await Promise.all(Object.values(fetchers).map((fetcher) => fetcher.close()));
    },
  };
}
