import { describe, expect, it } from 'vitest';
import { direct } from '../../../sandbox/in-process-origin.ts';
import { mktb as origin } from '../../../sandbox/mktb/index.ts';
import { shopGoods, shopMatches, shopSize } from '../../../sandbox/mktb/listings.ts';
import { allOf } from '../../../sandbox/pagination.ts';
import type { Json, JsonObject } from '../../base/json.ts';
import type { PageResponse } from '../../fetch/page.ts';
import type { ListSummary } from '../market.ts';
import { merchant } from './merchant.ts';

const fields = [
  'id',
  'name',
  'price',
  'original_price',
  'discount_percentage',
  'rating',
  'review_count',
  'sold_count',
  'etalase',
  'url',
  'image_url',
  'condition',
  'stock',
];

function createResponse(value: Json): PageResponse {
  const body = Buffer.from(JSON.stringify(value));
  return { status: 200, headers: {}, body, url: 'http://site.test/', at: 0 };
}

const shop = (value: Json) => ({ data: { GetShopProduct: value } });

function codeOf(value: Json): string {
  try {
    merchant.extract(createResponse(value), {}, 'id');
  } catch (thrown) {
    return (thrown as { code: string }).code;
  }
  return 'none';
}

async function read(input: JsonObject) {
  const asked = direct(origin, 'id');
  const entries: JsonObject[] = [];
  const pages = merchant.read(input, { region: 'id', fetch: asked.fetch });
  for (;;) {
    const next = await pages.next();
    if (next.done) return { entries, summary: next.value as ListSummary, requests: asked.requests };
    expect(next.value.list).toBe('products');
    entries.push(...next.value.entries);
  }
}

it.each(['repeats', 'is empty'])(
  'has more products if the page to which the shop links %s',
  async (second) => {
    const data = Array.from({ length: 80 }, (_, id) => ({
      product_id: String(id + 1),
      name: 'Tikar',
    }));
    const shopCore = { shopID: '5', domain: 'warung-5', name: 'Warung' };
    const summaryOf = async (next: string) => {
      const products = [shop({ links: { next }, data })];
      if (second === 'is empty') products.push(shop({ links: { next: '' }, data: [] }));
      const fetch = async ({ path }: { path: string }) =>
        createResponse(
          path.endsWith('/ShopProducts')
            ? (products.length > 1 ? products.shift() : products[0])!
            : { data: { shopInfoByID: { result: [{ shopCore }] } } },
        );
      const pages = merchant.read({ shopid: 'warung-5' }, { region: 'id', fetch });
      for (;;) {
        const step = await pages.next();
        if (step.done) return step.value;
      }
    };
    expect(await summaryOf('/warung-5/page/2')).toMatchObject({
      total_products: 80,
      has_more: true,
    });
    expect(await summaryOf('')).toMatchObject({ total_products: 80, has_more: false });
  },
);

it('does not take a 404 of the interface for a missing shop', async () => {
  const fetch = async () => ({ ...createResponse({ message: 'not found' }), status: 404 });
  const pages = merchant.read({ shopid: 'warung-5' }, { region: 'id', fetch });
  await expect(pages.next()).rejects.toMatchObject({ code: 'page_failed' });
});

describe('extract()', () => {
  it('maps a shop’s product and keeps its other fields', () => {
    const product = {
      product_id: '12',
      name: 'Tikar',
      product_url: 'https://www.tokopedia.com/warung-5/tikar',
      price: { text_idr: 'Rp1.250.000' },
      primary_image: { original: '', thumbnail: 'https://images.test/t.jpg' },
      flags: { isSold: true },
      campaign: { discounted_percentage: 10, original_price_fmt: 'Rp1.400.000' },
      label_groups: [{ position: 'integrity', title: '30+ terjual' }],
      stats: { reviewCount: 9, rating: 5, averageRating: '4.8' },
    };
    expect(
      merchant.extract(createResponse(shop({ data: [product] })), { etalase_id: '33' }, 'id'),
    ).toEqual([
      {
        ...product,
        id: '12',
        price: 1250000,
        original_price: 1400000,
        discount_percentage: 10,
        rating: 4.8,
        review_count: 9,
        sold_count: 30,
        etalase: '33',
        url: 'https://www.tokopedia.com/warung-5/tikar',
        image_url: 'https://images.test/t.jpg',
        condition: null,
        stock: null,
      },
    ]);
  });

  it('returns null for every listed field of a product with an id only', () => {
    const [entry] = merchant.extract(createResponse(shop({ data: [{ product_id: 7 }] })), {}, 'id');
    expect(entry).toEqual({
      ...Object.fromEntries(fields.map((name) => [name, null])),
      id: '7',
      product_id: 7,
    });
  });

  it.each([
    [shop({ data: [], errors: null }), 'none'],
    [shop({ data: null, errors: '' }), 'none'],
    [shop({ data: null, errors: 'busy' }), 'page_failed'],
    [shop({ errors: null }), 'page_unreadable'],
    [shop({ data: 'x' }), 'page_unreadable'],
    [shop({ data: [1] }), 'page_unreadable'],
    [shop({ data: [{}] }), 'page_unreadable'],
    [shop(null), 'page_failed'],
    [{ errors: [{ message: 'shop not found' }], data: null }, 'page_not_found'],
  ] as [Json, string][])('rejects %j with %s', (value, code) => expect(codeOf(value)).toBe(code));
});

describe('read()', () => {
  it.each(['5100', '5701', '5702', '5705'])(
    'collects every product of shop %s once',
    async (shopid) => {
      const { entries, summary } = await read({ shopid });
      expect(entries).toHaveLength(allOf(shopid, 80));
      expect(new Set(entries.map(({ id }) => id)).size).toBe(entries.length);
      expect(summary).toEqual({
        store_name: `Warung ${shopid}`,
        total_products: entries.length,
        has_more: false,
      });
      const goods = shopGoods(shopid, 'etalase', 0);
      expect(entries[0]).toMatchObject({
        id: goods.id,
        price: goods.price,
        etalase: null,
        stock: null,
      });
      expect(Object.keys(entries[0]!)).toEqual(expect.arrayContaining(fields));
    },
  );

  it('resolves a shop’s name in addresses to its number', async () => {
    const { entries, summary } = await read({ shopid: 'Warung-5100' });
    expect(entries).toHaveLength(allOf('5100', 80));
    expect(summary.store_name).toBe('Warung 5100');
  });

  it('reads one section and names it in each product', async () => {
    const { entries } = await read({ shopid: '5100', etalase_id: '33' });
    expect(entries).toHaveLength(shopSize('5100', '33', 80));
    expect(entries.every(({ etalase }) => etalase === '33')).toBe(true);
  });

  it('forwards the keyword', async () => {
    const { entries } = await read({ shopid: '5100', keyword: 'rak' });
    const matches = shopMatches('5100', 'etalase', 'rak', 80);
    expect(matches.length).toBeGreaterThan(0);
    expect(entries.map(({ id }) => id)).toEqual(matches.map(({ id }) => id));
  });

  it('reads at most max_pages pages', async () => {
    const { entries, requests, summary } = await read({ shopid: '5703', max_pages: 3 });
    expect(entries).toHaveLength(240);
    expect(requests).toHaveLength(4);
    expect(summary.has_more).toBe(true);
  });

  it('ends when a page repeats', async () => {
    const { entries, requests } = await read({ shopid: '5704' });
    expect(entries).toHaveLength(allOf('5704', 80));
    expect(requests).toHaveLength(3);
  });

  it('returns an empty list for a shop without products, and a fault for a missing shop', async () => {
    const empty = await read({ shopid: '5700' });
    expect(empty).toMatchObject({
      entries: [],
      summary: { store_name: 'Warung 5700', total_products: 0 },
    });
    await expect(read({ shopid: '5800' })).rejects.toMatchObject({ code: 'page_not_found' });
    await expect(read({ shopid: 'warung-5800' })).rejects.toMatchObject({ code: 'page_not_found' });
  });

  it.each([
    ['5807', 'page_blocked'],
    ['5810', 'page_throttled'],
    ['5811', 'page_throttled'],
    ['5814', 'page_unreadable'],
    ['5817', 'page_failed'],
    ['5820', 'page_blocked'],
  ])('rejects shop %s with %s, never returns a short list', async (shopid, code) => {
    await expect(read({ shopid })).rejects.toMatchObject({ code });
  });
});
