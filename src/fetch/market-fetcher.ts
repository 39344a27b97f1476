import type { Fetcher } from './http.ts';
import type { FetchMethod } from './policy.ts';

/** Creates a fetcher that uses the method of each market and region: plain HTTP, or a browser. */
export function createMarketFetcher(
  methodOf: (market: string, region: string) => FetchMethod,
  fetchers: Readonly<Record<FetchMethod, Fetcher>>,
): Fetcher {
  const fetcherOf = (market: string, region: string) => fetchers[methodOf(market, region)];
  return {
    for: (market, region, signal, share) => fetcherOf(market, region).for(market, region, signal, share),
    originOf: (market, region, request) => fetcherOf(market, region).originOf(market, region, request),
    discardSession: (market, region) => fetcherOf(market, region).discardSession(market, region),
    close: async () => {
      await Promise.all(Object.values(fetchers).map((fetcher) => fetcher.close()));
    },
  };
}
