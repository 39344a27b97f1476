export {
  type Offer,
  offeredKinds as kinds,
  offeredMarkets as markets,
  offers,
} from '../../../src/contract/offers.ts';

/** Words of kinds that are short for others. */
const words: Record<string, string> = { pdp: 'product page', pc: 'product page' };

/** A kind for people: "Variant sold". */
export function kindText(kind: string): string {
  const text = kind
    .split('_')
    .map((word) => words[word] ?? word)
    .join(' ');
  return text.charAt(0).toUpperCase() + text.slice(1);
}

/** A marketplace for people, by the letter that ends its path word: "Marketplace A"; else the word. */
export function marketText(market: string): string {
  const letter = /^mkt([a-z])$/.exec(market)?.[1];
  return letter ? `Marketplace ${letter.toUpperCase()}` : market;
}
