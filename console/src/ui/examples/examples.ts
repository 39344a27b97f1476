import type { JobType } from '../../../../src/contract/job-types.ts';

/** Requests that succeed on test data. */
const examples: readonly { of: string; body: object }[] = [
  {
    of: 'mkta variant_sold',
    body: {
      country: 'sg',
      items: ['20000000001', '20000001001', '20000002001'].map((id) => ({
        item_id: id,
        shop_id: '7001',
      })),
    },
  },
  { of: 'mkta get_pc', body: { region: 'sg', item_id: '32000000001', shop_id: '7003' } },
  { of: 'mkta search_items', body: { urls: ['https://mkta.example.sg/search?keyword=teapot'] } },
  { of: 'mkta merchant_items', body: { urls: ['https://mkta.example.sg/shop/7004003'] } },
  {
    of: 'mktb pdp_bulk',
    body: {
      items: ['1001', '1002', '1003'].map((id) => ({
        shop_domain: 'toko-7',
        product_key: `barang-${id}`,
      })),
    },
  },
  { of: 'mktb search_bulk', body: { items: [{ keyword: 'kopi 101' }] } },
  { of: 'mktb merchant_bulk', body: { items: [{ shopid: '6001', max_pages: 1 }] } },
  {
    of: 'mktc pdp_bulk',
    body: {
      items: ['10001', '10002', '10003'].map((id) => ({
        formattedId: `ps--GLN-60001-${id}`,
        sku: `GLN-60001-${id}-00001`,
      })),
    },
  },
  { of: 'mktc merchant_bulk', body: { items: [{ shopid: 'GLN-60102', limit: 50 }] } },
  {
    of: 'mktd pdp_bulk',
    body: {
      items: ['1729000000001', '1729000000002', '1729000000003'].map((id) => ({
        product_id: id,
        country: 'th',
      })),
    },
  },
  {
    of: 'mkte pdp_bulk',
    body: {
      items: ['B0GLN01001', 'B0GLN01002', 'B0GLN01003'].map((asin) => ({ asin, country: 'us' })),
    },
  },
  {
    of: 'mkte search_bulk',
    body: {
      items: [
        {
          list_type: 'search',
          keyword: 'desk lamp',
          country: 'uk',
          pages: 1,
        },
      ],
    },
  },
  { of: 'mktf search_bulk', body: { items: [{ url: 'https://store.example/collections/lamps' }] } },
];

/**
 * Returns the body of a request that succeeds on test data; null if the job type has no example.
 */
export function exampleBody({ market, kind }: Pick<JobType, 'market' | 'kind'>): string | null {
  const example = examples.find(({ of }) => of === `${market} ${kind}`);
  return example === undefined ? null : JSON.stringify(example.body);
}
