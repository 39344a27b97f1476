import { anyOf } from '../patterns.ts';
import { isNoBrand } from '../tracked.ts';
import { isPlaceholder } from './structured-data.ts';

/* cspell:disable */
/** Words for a brand, in the languages of shops. */
export const brandWords: readonly string[] = [
  'brand',
  'marca',
  'marke',
  'marque',
  'merk',
  'merek',
  'jenama',
  'märke',
  'mærke',
  'merke',
  'marka',
  'značka',
  'márka',
  'бренд',
  'марка',
  'thương hiệu',
  'แบรนด์',
  'ブランド',
  '品牌',
  '브랜드',
  'znamka',
  'tuotemerkki',
  'kaubamärk',
  'brend',
];
/* cspell:enable */

/** Labels of links to the products of a brand: "More from brand: Kiln". The group is the brand. */
const brandLabel = anyOf(brandWords, {
  flags: 'iu',
  before: '(?:^|\\s)',
  after: '\\s?[:：](?<brand>.*)$',
});

/**
 * Returns the brand in a text that a page states as one: without the label of a link to its
 * products. Null for the placeholder of a template, for a label without a brand, for a text that
 * says that there is none, and for an address.
 */
export function brandName(text: string | null): string | null {
  if (text === null || isPlaceholder(text)) return null;
  const brand = (brandLabel.exec(text)?.groups?.brand ?? text).trim();
  const isName = /[\p{L}\p{N}%]/u.test(brand) && !/^(?:https?:|\/)/i.test(brand);
  return isName && !isNoBrand(brand) ? brand : null;
}
