import type { MarketOrigins } from '../base/origins.ts';

/** Limits on the requests to one origin, over all workers together. */
export interface OriginPolicy {
  /** Requests in flight at once. */
  concurrency: number;
  requestsPerSecond: number;
  /** Whether the origin's robots.txt is respected. */
  robots: boolean;
}

/** Policy of an origin whose market and configuration declare no other. */
const defaultPolicy: OriginPolicy = { concurrency: 8, requestsPerSecond: 20, robots: false };

/** Maximum rates with a browser: opening a page sends dozens of requests where plain HTTP sends one. */
const browserMaximum = { concurrency: 4, requestsPerSecond: 2 };

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

/** Longest response time that is taken into account, in seconds: that of a response's timeout. */
const maxResponseSeconds = 20;

/**
 * Returns the number of requests to an origin that can be under way at once: its concurrency, or less where its rate
 * limit keeps even its slowest responses from adding up to that.
 */
export function requestsAtOnce({ concurrency, requestsPerSecond }: OriginPolicy): number {
  return Math.min(concurrency, Math.ceil(requestsPerSecond * maxResponseSeconds));
}

/** Returns the policy of an origin: the origins file's settings, else the market's, else the defaults. */
export function originPolicy(
  market: Partial<OriginPolicy>,
  settings: MarketOrigins | undefined,
): OriginPolicy {
  const policy = { ...defaultPolicy, ...market };
  if (fetchSortOf(settings) === 'browser') {
    policy.concurrency = Math.min(policy.concurrency, browserMaximum.concurrency);
    policy.requestsPerSecond = Math.min(policy.requestsPerSecond, browserMaximum.requestsPerSecond);
  }
  return {
    concurrency: settings?.concurrency ?? policy.concurrency,
    requestsPerSecond: settings?.requestsPerSecond ?? policy.requestsPerSecond,
    robots: settings?.robots ?? policy.robots,
  };
}
