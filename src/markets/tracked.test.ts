import { describe, expect, test } from 'vitest';
import type { PageChange } from '../../sandbox/changes.ts';
import {
  type MarketPage,
  marketPages,
  readMarketPage,
} from '../../test/support/pages/market-pages.ts';
import { markets } from './list.ts';
import { type ItemReading, lowestPrice, totalStock, trackedItem, valueAt } from './tracked.ts';

/** Reads the tracked items of a page while changes apply. */
async function read(place: MarketPage, changes: Record<string, PageChange> = {}) {
  const [name, , page] = place;
  const { tracked } = markets.find((market) => market.name === name)!;
  return (await readMarketPage(place, changes)).map((record) => tracked![page]!(record)!);
}

test('every page of every market has tracked items', () => {
  const pages = markets.flatMap(({ name, readers }) =>
    Object.keys(readers).map((page) => `${name} ${page}`),
  );
  const tracked = markets.flatMap(({ name, tracked: its }) =>
    Object.keys(its!).map((page) => `${name} ${page}`),
  );
  expect(tracked.sort()).toEqual(pages.sort());
  expect(marketPages.map(([market, , page]) => `${market} ${page}`).sort()).toEqual(pages.sort());
});

describe.each(marketPages)('%s %s %s', (...place) => {
  test('identifies its items and states a title and a price', async () => {
    const items = await read(place);
    expect(items.length).toBeGreaterThan(0);
    for (const item of items) {
      expect(item.key).toMatch(/^[\w-]+$/);
      expect(item.title).not.toBeNull();
      // Pages for visitors without a session, and products that are not offered, state no price.
      if (item.available !== false) expect(item.price === null || item.price > 0).toBe(true);
    }
    expect(items.some(({ price }) => price !== null && price > 0)).toBe(true);
  });

  test('shows a change of the price, the title, and the stock', async () => {
    const before = (await read(place)).find(({ price }) => price !== null)!;
    const change = { priceFactor: 0.5, title: 'Renamed', stock: 0 };
    const after = (await read(place, { [before.key!]: change })).find(
      ({ key }) => key === before.key,
    )!;
    expect(after.title).toBe('Renamed');
    if (after.price !== null) expect(after.price / before.price!).toBeCloseTo(0.5, 1);
    if (before.stock !== null) expect(after).toMatchObject({ stock: expect.any(Number) });
    expect(after).not.toEqual(before);
  });
});

test('a product page and a listing agree on the price of an item', async () => {
  const [listed] = await read([
    'mkta',
    'id',
    'search',
    { list_type: 'search', keyword: 'lamp 001', country: 'id' },
  ]);
  const [page] = await read(['mkta', 'id', 'product', { item_id: listed!.key, shop_id: '1' }]);
  expect([page!.key, page!.price, page!.title]).toEqual([
    listed!.key,
    listed!.price,
    listed!.title,
  ]);
});

describe('trackedItem()', () => {
  const nothing: Omit<ItemReading, 'key'> = {
    details: { brand: null, listPrice: null, reviews: null, seller: null, image: null },
    title: null,
    price: null,
    currency: null,
    stock: null,
    available: null,
    sold: null,
    rating: null,
    variants: null,
  };

  test('leaves unknown values null and derives the availability from the stock', () => {
    expect(trackedItem(7, {})).toEqual({ ...nothing, key: '7' });
    expect(trackedItem('a', { stock: 0 })).toMatchObject({ stock: 0, available: false });
    expect(trackedItem('a', { stock: 2 })).toMatchObject({ available: true });
    expect(trackedItem('a', { stock: 2, available: false })).toMatchObject({ available: false });
  });

  test.each([
    [10, 12, 12],
    [10, 10, null],
    [10, 8, null],
    [null, 12, null],
  ])(
    'of a price of %j and %j before the discount has the list price %j',
    (price, listPrice, expected) => {
      expect(trackedItem('a', { price, listPrice })!.details.listPrice).toBe(expected);
    },
  );

  test.each([
    'no brand',
    'No Brand',
    'NoBrand',
    'No Brand(ไม่มียี่ห้อ)',
    'Tidak Ada Merek',
    'Unbranded',
  ])('has no brand if the site shows %j', (brand) => {
    expect(trackedItem('a', { brand }).details.brand).toBeNull();
  });

  test.each(['No Brand Store', 'No Branding', 'Brand'])('has the brand %j', (brand) => {
    expect(trackedItem('a', { brand }).details.brand).toBe(brand);
  });

  test.each([undefined, null, '', true])(
    'of a record with the id %j has values, and no key',
    (id) => {
      expect(trackedItem(id, { title: 'a' })).toMatchObject({ key: null, title: 'a' });
    },
  );

  test('has different keys for different ids of any text', () => {
    const ids = [
      'a\ud800',
      'a\ud801',
      'a\ufffd',
      'x'.repeat(200),
      'x'.repeat(201),
      'x'.repeat(202),
    ];
    const keys = ids.map((id) => trackedItem(id, {}).key!);
    expect(new Set(keys).size).toBe(ids.length);
    for (const key of keys) expect([key.length <= 200, key.isWellFormed()]).toEqual([true, true]);
    expect([keys[2], keys[3]]).toEqual([ids[2], ids[3]]);
  });

  test('truncates texts between characters, and replaces lone surrogates', () => {
    const variants = [{ id: 'v\udc00', name: '\ud83d', price: null, stock: null }];
    const item = trackedItem('a', { title: `${'x'.repeat(499)}😀`, brand: 'b\ud83d', variants });
    expect(item.title).toBe('x'.repeat(499));
    expect(item.details.brand).toBe('b\ufffd');
    expect(item.variants).toMatchObject([{ id: 'v\ufffd', name: '\ufffd' }]);
  });

  test('keeps the same variants in any order', () => {
    const variant = (at: number) => ({ id: `${at}`, name: null, price: 1, stock: 1 });
    const variants = Array.from({ length: 300 }, (_, at) => variant(at));
    const idsOf = (listed: typeof variants) =>
      trackedItem('a', { variants: listed })
        .variants!.map(({ id }) => id)
        .sort();
    expect(idsOf(variants.toReversed())).toEqual(idsOf(variants));
  });

  test('bounds titles and variants', () => {
    const variants = Array.from({ length: 300 }, (_, at) => ({
      id: `${at}`,
      name: null,
      price: 1,
      stock: 1,
    }));
    const item = trackedItem('a', { title: 'x'.repeat(900), variants })!;
    expect([item.title!.length, item.variants!.length]).toEqual([500, 200]);
    expect(trackedItem('a', { variants: [] })!.variants).toBeNull();
  });
});

test('valueAt(), lowestPrice() and totalStock() return nothing for unknown values', () => {
  expect(valueAt({ a: [{ b: 1 }] }, 'a.0.b')).toBe(1);
  expect(valueAt({ a: null }, 'a.b')).toBeUndefined();
  expect(valueAt({}, 'constructor.name')).toBeUndefined();
  expect(lowestPrice([null, 3, 2])).toBe(2);
  expect(lowestPrice([null])).toBeNull();
  expect([totalStock([]), totalStock([1, null]), totalStock([1, 0])]).toEqual([null, null, 1]);
});
