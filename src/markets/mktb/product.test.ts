import { describe, expect, it } from 'vitest';
import { direct } from '../../../sandbox/in-process-origin.ts';
import { mktb as origin } from '../../../sandbox/mktb/index.ts';
import type { Json, JsonObject } from '../../base/json.ts';
import type { PageResponse } from '../../fetch/page.ts';
import { object } from '../fields.ts';
import { product } from './product.ts';

const input = { shop_domain: 'warung-5', product_key: 'lampu-baca-100' };

function createResponse(value: Json | undefined, status = 200): PageResponse {
  const body = Buffer.from(JSON.stringify(value));
  return { status, headers: {}, body, url: 'http://site.test/graphql/PDPGetLayoutQuery', at: 0 };
}

const basicInfo = {
  id: '31',
  alias: 'lampu-baca-100',
  url: 'https://www.tokopedia.com/warung-5/lampu-baca-100',
  menu: { id: '4', name: 'Rumah', url: '/rumah' },
  stats: { countReview: '7' },
  isSpecial: true,
};
const content = {
  name: 'product_content',
  data: [{ name: 'Lampu baca', price: { value: 45_000 } }],
};
const layout = (basic: JsonObject, more: JsonObject = {}) => ({
  data: { pdpGetLayout: { basicInfo: basic, components: [content], ...more } },
});

function recordOf(value: Json, asked: JsonObject = input): JsonObject {
  return object(object(product.extract(createResponse(value), asked, 'id').data).variants);
}

function codeOf(value: Json, asked: JsonObject = input): string {
  try {
    product.extract(createResponse(value), asked, 'id');
  } catch (thrown) {
    return (thrown as { code: string }).code;
  }
  return 'none';
}

function read(product_key: string, shop_domain = 'warung-5') {
  const asked = direct(origin, 'id');
  return product.read({ shop_domain, product_key }, { region: 'id', fetch: asked.fetch });
}

describe('extract()', () => {
  it('keeps the site’s basicInfo and adds missing listed fields as null', () => {
    expect(recordOf(layout(basicInfo))).toEqual({
      basicInfo: {
        ...basicInfo,
        menu: [{ id: '4', name: 'Rumah', url: '/rumah' }],
        shopID: null,
        createdAt: null,
        minOrder: null,
        maxOrder: null,
        weight: null,
        weightUnit: null,
        condition: null,
        status: null,
        isLeasing: null,
        catalogID: null,
        category: { detail: [] },
        stats: { countView: null, countReview: '7', countTalk: null, rating: null },
        txStats: { transactionSuccess: null, transactionReject: null, countSold: null },
      },
      components: [content],
    });
  });

  it('drops an empty menu', () => {
    const record = recordOf(layout({ ...basicInfo, menu: { id: '0', name: '', url: '' } }));
    expect(object(record.basicInfo).menu).toEqual([]);
  });

  it('accepts a batched response, and the documented path', () => {
    expect(recordOf([{ data: { other: 1 } }, layout(basicInfo)]).components).toEqual([content]);
    const documented = { data: { variants: { basicInfo, components: [content] } } };
    expect(recordOf(documented).components).toEqual([content]);
  });

  it('keeps every component without data about buyers', () => {
    const review = {
      name: 'review',
      data: [{ message: 'ok', user: { fullName: 'X' }, reviewerName: 'Y' }],
    };
    const components = [{ name: 'a', data: [] }, review, content];
    expect(recordOf(layout(basicInfo, { components })).components).toEqual([
      { name: 'a', data: [] },
      { name: 'review', data: [{ message: 'ok' }] },
      content,
    ]);
  });

  it('matches a product by its alias, its address, its variants and its long ids', () => {
    const renamed = {
      ...basicInfo,
      alias: 'lampu-besar',
      url: null,
      ttsPID: '1730000000000000001',
    };
    const child = { productURL: 'https://www.tokopedia.com/warung-5/lampu-baca-100' };
    const variants = {
      components: [content, { name: 'new_variant_options', data: [{ children: [child] }] }],
    };
    expect(codeOf(layout(renamed))).toBe('page_mismatch');
    expect(codeOf(layout(renamed, variants))).toBe('none');
    const long = { ...input, product_key: 'lampu-1730000000000000001' };
    expect(codeOf(layout(renamed), long)).toBe('none');
    expect(codeOf(layout(basicInfo), { ...input, shop_domain: 'WARUNG-5' })).toBe('none');
  });

  it('rejects a product that states no key', () => {
    expect(codeOf(layout({ ...basicInfo, alias: null, url: null }))).toBe('page_mismatch');
  });

  it('rejects a product of another shop', () => {
    expect(
      codeOf(layout({ ...basicInfo, url: 'https://www.tokopedia.com/other/lampu-baca-100' })),
    ).toBe('page_mismatch');
  });

  it.each([
    [
      { data: { pdpGetLayout: null }, errors: [{ message: 'product not found' }] },
      'page_not_found',
    ],
    [
      { data: { pdpGetLayout: null }, errors: [{ message: 'x', extensions: { code: 404 } }] },
      'page_not_found',
    ],
    [{ data: null, errors: [{ message: 'something of no known meaning' }] }, 'page_not_found'],
    [{ data: { pdpGetLayout: null } }, 'page_not_found'],
    [{ data: { pdpGetLayout: {} } }, 'page_not_found'],
    [layout({ alias: '', id: '0' }), 'page_not_found'],
    [{ data: null, errors: [{ message: 'context deadline exceeded' }] }, 'page_failed'],
    [{ errors: [{ message: 'Invalid request schema received.' }] }, 'page_failed'],
    [{ errors: 'rate limit reached' }, 'page_throttled'],
    [{ errors: [{ message: 'x', extensions: { code: '403' } }] }, 'page_blocked'],
    [{ data: { pdpGetLayout: { components: [] } } }, 'page_unreadable'],
    [{ data: { pdpGetLayout: { basicInfo: 'x' } } }, 'page_unreadable'],
    [layout({ alias: 'lampu-baca-100', productID: {} }), 'page_unreadable'],
    [{ data: { displayAdsV3: {} } }, 'page_unreadable'],
    [[], 'page_unreadable'],
    ['text', 'page_unreadable'],
    [null, 'page_unreadable'],
  ] as [Json, string][])('rejects %j with %s', (value, code) => expect(codeOf(value)).toBe(code));

  it('tolerates unexpected types in every place', () => {
    const odd = {
      id: 31,
      alias: 'lampu-baca-100',
      url: 5,
      menu: 'x',
      category: [],
      stats: 3,
      txStats: null,
    };
    const components = [null, 'x', content, { data: [{ children: 3 }, 4] }];
    expect(recordOf(layout(odd, { components })).components).toEqual([
      content,
      { data: [{ children: 3 }, 4] },
    ]);
    expect(codeOf(layout(odd, { components: 'x' }))).toBe('page_unreadable');
  });

  it.each([
    ['no components', []],
    ['blank values', [{ name: 'product_content', data: [{ name: ' ', price: { value: 0 } }] }]],
    [
      'values of other components',
      [{ name: 'similar', data: [{ name: 'Rak', price: { value: 5 } }] }],
    ],
  ])('rejects a product without title and price: %s', (_, components) => {
    expect(codeOf(layout(basicInfo, { components }))).toBe('page_unreadable');
  });

  it('accepts a product with a title or a price', () => {
    for (const data of [{ name: 'Lampu' }, { price: { value: 5 } }]) {
      const components = [{ name: 'product_content', data: [data] }];
      expect(codeOf(layout(basicInfo, { components }))).toBe('none');
    }
  });
});

describe('read()', () => {
  it('requests the shop and key as an array with one operation', async () => {
    const asked = direct(origin, 'id');
    await product.read(input, { region: 'id', fetch: asked.fetch });
    expect(asked.requests).toHaveLength(1);
    expect(asked.requests[0]!.path).toBe('/graphql/PDPGetLayoutQuery');
    const [operation] = JSON.parse(asked.requests[0]!.body!);
    expect(operation.variables).toMatchObject({
      shopDomain: 'warung-5',
      productKey: 'lampu-baca-100',
    });
    expect(operation.query.split('{').length).toBe(operation.query.split('}').length);
  });

  it.each(['barang-100', 'barang-101', 'barang-700', 'barang-703', 'barang-704', 'barang-705'])(
    'returns a record for %s',
    async (key) => {
      const record = object(object((await read(key)).data).variants);
      expect(object(record.basicInfo)).toMatchObject({ alias: key, menu: expect.any(Array) });
      expect(record.components).toBeInstanceOf(Array);
      expect(JSON.stringify(record)).not.toContain('fullName');
    },
  );

  it('returns a record for a product that is not on sale', async () => {
    const record = object(object((await read('barang-701')).data).variants);
    expect(object(record.basicInfo).status).toBe('WAREHOUSE');
  });

  it.each([
    [800, 'page_not_found'],
    [801, 'page_not_found'],
    [802, 'page_not_found'],
    [803, 'page_mismatch'],
    [804, 'page_mismatch'],
    [807, 'page_blocked'],
    [808, 'page_blocked'],
    [809, 'page_blocked'],
    [810, 'page_throttled'],
    [811, 'page_throttled'],
    [812, 'page_failed'],
    [813, 'page_unreadable'],
    [814, 'page_unreadable'],
    [815, 'page_empty'],
    [816, 'page_unreadable'],
    [817, 'page_failed'],
  ])('rejects a key ending in %d with %s', async (digits, code) => {
    await expect(read(`barang-${digits}`)).rejects.toMatchObject({ code });
  });
});
