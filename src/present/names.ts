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
export const marketTitle = (market: string): string =>
  Object.hasOwn(marketTitles, market) ? marketTitles[market]! : market;

/** Formats a kind: "Variant sold". */
export const kindText = (kind: string): string =>
  capitalize(
    kind
      .split('_')
      .map((word) => expansions[word] ?? word)
      .join(' '),
  );

/** Formats the name of a method: "Submit product page bulk" for `SubmitPdpBulk`. */
export const methodText = (method: string): string =>
  kindText(method.replace(/(?<=[a-z])(?=[A-Z])/g, '_').toLowerCase());

/** Formats a kind on its marketplace: "Variant sold on Shopee". */
export const jobTypeText = ({ kind, market }: { kind: string; market: string }): string =>
  `${kindText(kind)} on ${marketTitle(market)}`;
