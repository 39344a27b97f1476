import type { MarketOrigins } from '../base/origins.ts';

/** Limits on the requests to one origin, over all workers. */
export interface OriginPolicy {
  /** Maximum concurrent requests. */
  concurrency: number;
  requestsPerSecond: number;
  /** True if requests obey the origin's robots.txt. */
  robots: boolean;
  /** Method of fetching pages. */
  fetch: FetchMethod;
}

/** Policy of an origin whose market and settings declare no other. */
const defaultPolicy: OriginPolicy = {
  concurrency: 8,
  requestsPerSecond: 20,
  robots: false,
  fetch: 'http',
};

/**
 * Upper bounds of the default limits with a browser: a page sends dozens of requests where plain
 * HTTP sends one.
 */
const browserMaximum = { concurrency: 4, requestsPerSecond: 2 };

/**
 * Method of fetching a market's pages: plain HTTP requests, or a browser that loads them. No market
 * defaults to a browser, which costs a hundred times as much and may not be needed
 * (docs/fetching.md).
 */
export type FetchMethod = NonNullable<MarketOrigins['fetch']>;

/** Assumed duration of the slowest responses in seconds: the timeout of a response. */
const maxResponseSeconds = 20;

/**
 * Returns the maximum concurrent requests to an origin: its concurrency, or less if its rate limit
 * does not reach that number even with the slowest responses.
 */
export function maxConcurrency({ concurrency, requestsPerSecond }: OriginPolicy): number {
  return Math.min(concurrency, Math.ceil(requestsPerSecond * maxResponseSeconds));
}

/**
 * Returns the policy of an origin: the origins file's settings, otherwise the market's, otherwise
 * the defaults.
 */
export function originPolicy(
  market: Partial<OriginPolicy>,
  settings: MarketOrigins | undefined,
): OriginPolicy {
  const policy = { ...defaultPolicy, ...market };
  const fetch = settings?.fetch ?? policy.fetch;
  if (fetch === 'browser') {
    policy.concurrency = Math.min(policy.concurrency, browserMaximum.concurrency);
    policy.requestsPerSecond = Math.min(policy.requestsPerSecond, browserMaximum.requestsPerSecond);
  }
  return {
    concurrency: settings?.concurrency ?? policy.concurrency,
    requestsPerSecond: settings?.requestsPerSecond ?? policy.requestsPerSecond,
    robots: settings?.robots ?? policy.robots,
    fetch,
  };
}
