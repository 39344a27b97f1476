import { describe, expect, it } from 'vitest';
import { parseHtml } from '../html.ts';
import { readBrand } from './texts.ts';

describe('brands', () => {
  it.each([
    ['Visit the Blue Harbour Store', 'Blue Harbour'],
    ['Besuche den Blue-Harbour-Store', 'Blue-Harbour'],
    ['Visiter la boutique Blue', 'Blue'],
    ['Visita lo Store di Blue', 'Blue'],
    ['Visita la tienda de Blue', 'Blue'],
    ['Blueのストアを表示', 'Blue'],
    ['Brand: Blue', 'Blue'],
    ['Marque : Blue', 'Blue'],
    ['ブランド: Blue', 'Blue'],
    ['Blue', 'Blue'],
  ])('%j is %j', (byline, brand) =>
    expect(readBrand(parseHtml(`<a id="bylineInfo">${byline}</a>`), [])).toBe(brand),
  );
});
