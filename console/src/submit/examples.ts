import type { JobType } from '../../../src/contract/job-types.ts';

/** Bodies of requests that succeed on test data, by marketplace and kind. */
const bodies: Readonly<Record<string, object>> = {
  'mkta variant_sold': {
    country: 'sg',
    items: ['20000000001', '20000001001', '20000002001'].map((id) => ({ item_id: id, shop_id: '7001' })),
  },
  'mkta get_pc': { region: 'sg', item_id: '32000000001', shop_id: '7003' },
  'mkta search_items': { urls: ['https://mkta.example.sg/search?keyword=teapot'] },
  'mkta merchant_items': { urls: ['https://mkta.example.sg/shop/7004003'] },
  'mktb pdp_bulk': {
    items: ['1001', '1002', '1003'].map((id) => ({ shop_domain: 'toko-7', product_key: `barang-${id}` })),
  },
  'mktb search_bulk': { items: [{ keyword: 'kopi 101' }] },
  'mktb merchant_bulk': { items: [{ shopid: '6001', max_pages: 1 }] },
  'mktc pdp_bulk': {
    items: ['10001', '10002', '10003'].map((id) => ({
      formattedId: `ps--GLN-60001-${id}`,
      sku: `GLN-60001-${id}-00001`,
    })),
  },
  'mktc merchant_bulk': { items: [{ shopid: 'GLN-60102', limit: 50 }] },
  'mktd pdp_bulk': {
    items: ['1729000000001', '1729000000002', '1729000000003'].map((id) => ({
      product_id: id,
      country: 'th',
    })),
  },
  'mkte pdp_bulk': {
    items: ['B0GLN01001', 'B0GLN01002', 'B0GLN01003'].map((asin) => ({ asin, country: 'us' })),
  },
  'mkte search_bulk': { items: [{ list_type: 'search', keyword: 'desk lamp', country: 'uk', pages: 1 }] },
  'mktf search_bulk': { items: [{ url: 'https://store.example/collections/lamps' }] },
};

/** Returns the body of a request that succeeds on test data; null if the job type has no example. */
export function exampleBody({ market, kind }: Pick<JobType, 'market' | 'kind'>): string | null {
  const body = bodies[`${market} ${kind}`];
  return body === undefined ? null : JSON.stringify(body);
}
