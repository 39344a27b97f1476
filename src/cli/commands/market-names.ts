import { marketTitles } from '../../../gen/job-names.ts';
import { jobTypes, knownMarkets, unitFields } from '../../contract/job-types.ts';
import { namedChoice } from '../../contract/known-names.ts';
import { choicesOf } from '../../contract/units/columns.ts';
import { UsageError } from './exit.ts';

/**
 * Returns the path segment of a marketplace by its name or the first words of it: "mktd" for
 * "TikTok Shop", "tiktok-shop", and "tiktok". Returns other texts unchanged.
 */
export const marketPath = (text: string): string => namedChoice(text, knownMarkets) ?? text;

/** Codes of the regions of all marketplaces. */
const regionCodes = [
  ...new Set(
    jobTypes
      .flatMap((jobType) => [...jobType.options, ...unitFields(jobType)])
      .filter(({ name }) => name === 'country' || name === 'region')
      .flatMap(choicesOf),
  ),
];

/** Returns the code of a region by its name: "de" for "Germany". Returns other texts unchanged. */
export const regionCode = (text: string): string => namedChoice(text, regionCodes) ?? text;

/**
 * Returns the path segment of a marketplace. Throws a UsageError that lists them with their names.
 */
export function requireMarket(text: string): string {
  const market = marketPath(text);
  if (knownMarkets.includes(market)) return market;
  const markets = knownMarkets.map((name) => `${name} ${marketTitles[name]}`);
  throw new UsageError(`No market "${text}" (${markets.join(', ')})`);
}
