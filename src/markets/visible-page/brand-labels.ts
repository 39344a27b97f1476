import { anyOf } from '../patterns.ts';
import { brandWords } from '../structured-data/brand.ts';

// Labels of brands and of trade numbers on a page, in the languages of shops.

/** A label of a text: alone, or before a colon. */
const labelEnd = '(?:\\s*[:：]\\s*|\\s*$)';

const brandTerms = [...brandWords, 'brand name', 'product brand'];

/** Labels of the brand of a product. */
export const ownBrandLabels = anyOf(brandTerms, { flags: 'iu', before: '^', after: labelEnd });

/** Labels of the brand or of the manufacturer of a product. */
export const brandLabels = anyOf(
  [
    ...brandTerms,
    'manufacturer',
    'fabricante',
    'hersteller',
    'fabricant',
    'fabrikant',
    'produttore',
    'producent',
    'výrobce',
    'výrobca',
    'proizvajalec',
    'proizvođač',
    'tillverkare',
    'valmistaja',
    'tootja',
    'gyártó',
    'producător',
    'производитель',
    'виробник',
    'メーカー',
    '제조사',
  ],
  { flags: 'iu', before: '^', after: labelEnd },
);

/** Names of elements with the brand or the manufacturer of a product. */
export const brandNames = anyOf(
  ['brand', 'manufacturer', 'vendor', 'marca', 'marke', 'marque', 'hersteller', 'fabricant'],
  {
    flags: 'i',
    before: '(?:^|[\\s_-])',
    after: '(?:[_-]{1,2}(?:name|logo|image|img|link|title|text|value))?(?=$|\\s)',
  },
);

/** Labels of the trade number of a product, whose last digit is a check digit. */
export const gtinLabels = anyOf(
  [
    '(?:gtin|ean|upc)(?:[- ]?\\d{1,2})?(?:[- ]?(?:code|kód|kod|nummer|nr\\.?|number))?',
    'isbn(?:[- ]?1[03])?',
    'bar ?code',
    'c[oó]d(?:igo)? de barras',
    'code[- ]barres',
    'čárový kód',
    'čiarový kód',
    'штрих-?код',
  ],
  { flags: 'iu', before: '^', after: labelEnd },
);
