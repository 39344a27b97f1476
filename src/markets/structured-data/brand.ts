import { anyOf } from '../patterns.ts';

/** Text that a page's template did not replace with a brand. */
const placeholder = /\{\{|\$\{|<%|\[\[|^%[\w.-]+%$|^\$[a-z_][\w.]*$/;

/* cspell:disable */
/** Labels of links to the products of a brand: "More from brand: Kiln". The group is the brand. */
const brandLabel = anyOf(
  [
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
  ],
  { flags: 'iu', before: '(?:^|\\s)', after: '\\s?[:：](?<brand>.*)$' },
);
/* cspell:enable */

/**
 * Returns the brand in a text that a page states as one: without the label of a link to its
 * products. Null for the placeholder of a template and for a label without a brand.
 */
export function brandName(text: string | null): string | null {
  if (text === null || placeholder.test(text)) return null;
  const brand = brandLabel.exec(text)?.groups?.brand ?? text;
  return brand.trim() || null;
}
