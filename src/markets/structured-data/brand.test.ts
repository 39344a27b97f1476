import { describe, expect, test } from 'vitest';
import { brandName } from './brand.ts';

/* cspell:ignore metabrand mais artigos */
describe('brandName()', () => {
  test.each(['Kiln', '3M', '100%', 'A$AP', 'Marca Sul', "Brandt's", 'Denim & Co.: Atelier', '%'])(
    'keeps the brand "%s"',
    (brand) => {
      expect(brandName(brand)).toBe(brand);
    },
  );

  test.each([
    '$metabrand',
    '{{brand}}',
    '%brand%',
    `\${product.brand}`,
    '<%= brand %>',
    '[[brand]]',
    'by {{brand}}',
  ])('returns null for the placeholder "%s"', (text) => {
    expect(brandName(text)).toBeNull();
  });

  test.each([
    ['Ver mais artigos da Marca: Kiln', 'Kiln'],
    ['More from brand: Kiln & Sons', 'Kiln & Sons'],
    ['Mehr von der Marke: Töpfer', 'Töpfer'],
    ['ブランド：陶', '陶'],
    ['Brand: ', null],
    ['/brands/kiln-works', null],
    ['More from brand:', null],
  ])('reads the label "%s"', (text, brand) => {
    expect(brandName(text)).toBe(brand);
  });

  test('returns null without a text', () => {
    expect(brandName(null)).toBeNull();
  });
});
