import type { MarketOrigins } from '../base/origins.ts';

/** How gently one origin is asked. */
export interface Gentleness {
  /** Requests under way at once. */
  concurrency: number;
  requestsPerSecond: number;
}

const ordinary: Gentleness = { concurrency: 8, requestsPerSecond: 20 };

/** Where a market bears more or less than the ordinary. A store of mktf is one small shop. */
const byMarket: Readonly<Record<string, Gentleness>> = {
  mkte: { concurrency: 6, requestsPerSecond: 10 },
  mktf: { concurrency: 2, requestsPerSecond: 2 },
};

/** How gently an origin of a market is asked: as the origins file says, else the market's default. */
export function gentleness(market: string, settings: MarketOrigins | undefined): Gentleness {
  const usual = byMarket[market] ?? ordinary;
  return {
    concurrency: settings?.concurrency ?? usual.concurrency,
    requestsPerSecond: settings?.requestsPerSecond ?? usual.requestsPerSecond,
  };
}
