import type { shapes } from './shapes.ts';

/** How a job is polled and where its results are. */
export type Form = 'items' | 'task' | 'file' | 'tasks' | 'urls';

/** One submission of the demo. */
export interface Work {
  title: string;
  /** What `retrieve` and `submit` follow: "/v1/mktb/pdp/bulk". */
  path: string;
  body: Record<string, unknown>;
  /** The body goes as a multipart form whose `file` is this text. */
  csv?: string;
  form: Form;
  approval?: boolean;
  shape: keyof typeof shapes;
}

/** Ids without a special ending at the fake marketplaces, but for every 30th, which is not to be found. */
function ids(count: number, first: number): string[] {
  return Array.from({ length: count }, (_, at) =>
    String(first + Math.floor(at / 600) * 1000 + (at % 30 === 29 ? 800 : at % 600)),
  );
}

const variants = (country: string, count: number): Work => ({
  title: `A: variants sold, ${country}`,
  path: '/v1/mkta/variant_sold_v1',
  body: { country, items: ids(count, 20_000_000_000).map((id) => ({ item_id: id, shop_id: '7001' })) },
  form: 'items',
  approval: true,
  shape: 'variantSold',
});

const csv = (count: number) =>
  [
    'region,shop_id,item_id',
    ...ids(count, 31_000_000_000).map((id, at) => `${at % 2 ? 'my' : 'sg'},7002,${id}`),
  ].join('\n');

/** Every kind on every marketplace, in small. `store` is the address of the fake store of marketplace F. */
export function works(store: string): Work[] {
  const bulk = (items: unknown[]) => ({ items });
  return [
    variants('id', 300),
    variants('sg', 260),
    {
      title: 'A: one product page',
      path: '/v1/mkta/get_pc',
      body: { region: 'th', item_id: '32000000001', shop_id: '7003' },
      form: 'task',
      shape: 'getPc',
    },
    {
      title: 'A: product pages by CSV',
      path: '/v1/mkta/get_pc_bulk',
      body: { result_format: 'jsonl' },
      csv: csv(60),
      form: 'file',
      shape: 'getPc',
    },
    {
      title: 'A: searches and categories',
      path: '/v1/mkta/search-items',
      body: {
        urls: [
          'https://mkta.example.co.id/search?keyword=lampu%20004',
          'https://mkta.example.vn/Gia-dung-cat.11036.11036003',
        ],
      },
      form: 'urls',
      approval: true,
      shape: 'searchItems',
    },
    {
      title: 'A: shops',
      path: '/v1/mkta/merchant-items',
      body: { urls: ['https://mkta.example.com.my/shop/7004003', 'https://mkta.example.ph/shop/7005004'] },
      form: 'urls',
      approval: true,
      shape: 'merchantItems',
    },
    {
      title: 'B: product pages',
      path: '/v1/mktb/pdp/bulk',
      body: bulk(ids(30, 1000).map((id) => ({ shop_domain: 'toko-7', product_key: `barang-${id}` }))),
      form: 'file',
      shape: 'mktbProduct',
    },
    {
      title: 'B: searches',
      path: '/v1/mktb/search/bulk',
      body: bulk([
        { keyword: 'kopi 101' },
        { list_type: 'category', keyword: '1102', category: 'dapur', product_limit: 90 },
      ]),
      form: 'tasks',
      shape: 'mktbSearch',
    },
    {
      title: 'B: shops',
      path: '/v1/mktb/merchant/bulk',
      body: bulk([{ shopid: '6001' }, { shopid: '6002', max_pages: 1 }]),
      form: 'tasks',
      shape: 'mktbMerchant',
    },
    {
      title: 'C: product pages',
      path: '/v1/mktc/pdp/bulk',
      body: bulk(
        ids(30, 10000).map((id) => ({ formattedId: `ps--GLN-60001-${id}`, sku: `GLN-60001-${id}-00001` })),
      ),
      form: 'file',
      shape: 'mktcProduct',
    },
    {
      title: 'C: merchants',
      path: '/v1/mktc/merchant/bulk',
      body: bulk([{ shopid: 'GLN-60101' }, { shopid: 'GLN-60102', limit: 50 }]),
      form: 'tasks',
      shape: 'mktcMerchant',
    },
    {
      title: 'D: product pages',
      path: '/v1/mktd/pdp/bulk',
      body: bulk(
        ids(30, 1_729_000_000_000).map((id, at) => ({ product_id: `${id}`, country: at % 2 ? 'my' : 'th' })),
      ),
      form: 'file',
      shape: 'mktdProduct',
    },
    {
      title: 'E: product pages',
      path: '/v1/mkte/pdp/bulk',
      body: bulk(ids(20, 1000).map((id, at) => ({ asin: `B0GLN0${id}`, country: at % 2 ? 'de' : 'us' }))),
      form: 'file',
      shape: 'mkteProduct',
    },
    {
      title: 'E: searches',
      path: '/v1/mkte/search/bulk',
      body: bulk([
        { list_type: 'search', keyword: 'desk lamp', country: 'uk' },
        { list_type: 'category', keyword: '1101', category: '1101', country: 'jp', pages: 1 },
      ]),
      form: 'tasks',
      shape: 'mkteSearch',
    },
    {
      title: 'F: stores',
      path: '/v1/mktf/search/bulk',
      body: bulk([{ url: `${store}/collections/lamps` }, { url: `${store}/search?q=clay+mug` }]),
      form: 'tasks',
      shape: 'mktfSearch',
    },
  ];
}
