import { defaultMarketLimits, type MarketLimits } from '../fetch/limits.ts';
import type { Market } from './market.ts';

/** Limits of a market: its own, else the defaults. */
export function limitsOf(market: Pick<Market, 'limits'> | undefined): MarketLimits {
  return { ...defaultMarketLimits, ...market?.limits };
}
