import { describe, expect, it } from 'vitest';
import { readAvailability } from '../availability/availability.ts';
import { parseHtml } from '../html/html.ts';
import { readBrand, readRating, readReviewCount, readStockText } from './texts.ts';

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

  it.each([
    'Visit the Amazon Renewed Store',
    'Brand: Amazon Renewed',
    'Visita lo Store di Amazon Renewed',
    'Amazon整備済み品のストアを表示',
    'Amazon Warehouse',
  ])('%j is none', (byline) => {
    const page = parseHtml(`<a id="bylineInfo">${byline}</a>`);
    expect(readBrand(page, [])).toBeNull();
    expect(readBrand(page, [{ name: 'Brand', value: 'Blue' }])).toBe('Blue');
    expect(readBrand(page, [{ name: 'Brand', value: 'Amazon Renewed' }])).toBeNull();
  });

  it('are those of the table if both exist', () => {
    const page = parseHtml('<a id="bylineInfo">Visit the Blue Harbour Store</a>');
    expect(readBrand(page, [{ name: 'Marke', value: 'Blue' }])).toBe('Blue');
    expect(readBrand(page, [{ name: 'Colour', value: 'Red' }])).toBe('Blue Harbour');
  });

  it.each(['Amazon Basics', 'Amazon Essentials'])('%s is a brand', (brand) => {
    expect(readBrand(parseHtml(`<a id="bylineInfo">Visit the ${brand} Store</a>`), [])).toBe(brand);
  });
});

describe('ratings of pages for touch screens', () => {
  const link = (stars: string, count: string) =>
    parseHtml(
      `<a id="acrCustomerReviewLink"><span>${stars}</span><i><span class="a-icon-alt">${stars} out of 5 stars</span></i>${count}</a>`,
    );

  it.each([
    ['<span aria-label="1,204 Reviews">(1.2K)</span>', 1204],
    ['<span>(201)</span>', 201],
    ['<span>201 ratings</span>', 201],
    ['<span aria-label="312 レビュー">(312)</span>', 312],
    ['<span>(1.2K)</span>', 1200],
    ['<span>See all</span>', null],
  ])('have the count of %s', (count, expected) => {
    const page = link('4.1', count);
    expect([readRating(page), readReviewCount(page)]).toEqual([4.1, expected]);
  });
});

describe('texts about stock', () => {
  const block = (id: string, text: string) => `<div id="${id}"><span>${text}</span></div>`;
  const soldOut = block('outOfStock', 'Currently unavailable.');

  it.each([
    ['In Stock', true, null],
    ['Temporarily out of stock.', false, false],
    ['', null, false],
  ])('%j is %j, and %j beside one that denies it', (text, available, besideSoldOut) => {
    const availableIn = (html: string) =>
      readAvailability(readStockText(parseHtml(html), 'new')).available;
    expect(availableIn(block('availability', text))).toBe(available);
    expect(availableIn(block('availability', text) + soldOut)).toBe(besideSoldOut);
  });
});
