import { marketTitles } from '../../gen/job-names.ts';
import { capitalize } from './text.ts';

/** Expansions of abbreviations in kinds. */
const expansions: Record<string, string> = {
  pdp: 'product page',
  pc: 'product page',
  api: 'API',
  url: 'URL',
};

/** Returns the name of a marketplace: "Shopee" for "mkta". Other texts are returned unchanged. */
export function marketTitle(market: string): string {
  if (Object.hasOwn(marketTitles, market)) return marketTitles[market]!;
  return market;
}

/** Formats a kind: "Variant sold". */
export const kindText = (kind: string): string =>
  capitalize(
    kind
      .split('_')
      .map((word) => expansions[word] ?? word)
      .join(' '),
  );

/** What jobs collect, in the order of the submit page. */
export const purposes = [
  'Products',
  'Variants with units sold',
  'Search results',
  'Whole shops',
] as const;

/** Returns the noun for the data that a kind collects, such as "Search results". */
export function purposeOf(kind: string): (typeof purposes)[number] {
  if (kind.startsWith('variant')) return 'Variants with units sold';
  if (kind.startsWith('search')) return 'Search results';
  return kind.startsWith('merchant') ? 'Whole shops' : 'Products';
}

/** Formats the name of a method: "Submit product page bulk" for `SubmitPdpBulk`. */
export const methodText = (method: string): string =>
  kindText(method.replace(/(?<=[a-z])(?=[A-Z])/g, '_').toLowerCase());

/** Formats a kind on its marketplace: "Variant sold on Shopee". */
export const jobTypeText = ({ kind, market }: { kind: string; market: string }): string =>
  `${kindText(kind)} on ${marketTitle(market)}`;
