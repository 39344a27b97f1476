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

/** How gently an origin of a market is asked: as the origins file says, else the market's default. */
export function gentleness(market: string, settings: MarketOrigins | undefined): Gentleness {
  const usual = { ...ordinary, ...byMarket[market] };
  return {
    concurrency: settings?.concurrency ?? usual.concurrency,
    requestsPerSecond: settings?.requestsPerSecond ?? usual.requestsPerSecond,
    robots: settings?.robots ?? usual.robots,
  };
}
