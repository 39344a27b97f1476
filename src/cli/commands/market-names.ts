import { marketTitles } from '../../../gen/job-names.ts';
import { knownMarkets } from '../../contract/job-types.ts';
import { namedChoice } from '../../contract/known-names.ts';
import { UsageError } from './exit.ts';

/**
 * Returns the path segment of a marketplace by its name or the first words of it: "mktd" for
 * "TikTok Shop", "tiktok-shop", and "tiktok". Returns other texts unchanged.
 */
export const marketPath = (text: string): string => namedChoice(text, knownMarkets) ?? text;

/**
 * Returns the path segment of a marketplace. Throws a UsageError that lists them with their names.
 */
export function requireMarket(text: string): string {
  const market = marketPath(text);
  if (knownMarkets.includes(market)) return market;
  const markets = knownMarkets.map((name) => `${name} ${marketTitles[name]}`);
  throw new UsageError(`No market "${text}" (${markets.join(', ')})`);
}
