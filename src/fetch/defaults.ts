import type { MarketOrigins } from '../base/origins.ts';

/** How gently one origin is asked. */
export interface Gentleness {
  /** Requests under way at once, over all workers together. */
  concurrency: number;
  /** Over all workers together. */
  requestsPerSecond: number;
  /** Whether its robots.txt is respected. */
  robots: boolean;
}

const ordinary: Gentleness = { concurrency: 8, requestsPerSecond: 20, robots: false };

/** Where a market bears more or less than the ordinary. A store of mktf is one small shop, named by a caller. */
const byMarket: Readonly<Record<string, Partial<Gentleness>>> = {
  mkte: { concurrency: 6, requestsPerSecond: 10 },
  mktf: { concurrency: 2, requestsPerSecond: 2, robots: true },
};

/** A page that is opened in a browser makes dozens of requests where a plain one is one. */
const opened = { concurrency: 4, requestsPerSecond: 2 };

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
export function requestsAtOnce({ concurrency, requestsPerSecond }: Gentleness): number {
  return Math.min(concurrency, Math.ceil(requestsPerSecond * maxResponseSeconds));
}

/** How gently an origin of a market is asked: as the origins file says, else the market's default. */
export function gentleness(market: string, settings: MarketOrigins | undefined): Gentleness {
  const usual = { ...ordinary, ...byMarket[market] };
  if (fetchSortOf(settings) === 'browser') {
    usual.concurrency = Math.min(usual.concurrency, opened.concurrency);
    usual.requestsPerSecond = Math.min(usual.requestsPerSecond, opened.requestsPerSecond);
  }
  return {
    concurrency: settings?.concurrency ?? usual.concurrency,
    requestsPerSecond: settings?.requestsPerSecond ?? usual.requestsPerSecond,
    robots: settings?.robots ?? usual.robots,
  };
}
