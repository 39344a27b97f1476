/** A reserved id: the digits that a subject ends with, and the outcome of its unit. */
interface ReservedId {
  digits: string;
  /** Code of the failed unit. Null for a successful one. */
  code: string | null;
}

/** Outcomes that every market has (docs/sandbox.md, "Every marketplace"). */
export const commonIds: readonly ReservedId[] = [
  { digits: '123', code: null },
  { digits: '800', code: 'page_not_found' },
  { digits: '807', code: 'page_blocked' },
  { digits: '812', code: 'page_failed' },
  { digits: '900', code: null },
  { digits: '902', code: 'network' },
  { digits: '908', code: 'page_throttled' },
  { digits: '916', code: 'page_unreadable' },
];

/** A job of one market, and the member of its items that has the reserved digits. */
export interface ReservedItems {
  name: string;
  path: string;
  /** Creates the request for items whose subjects end with these digits. */
  request(digits: readonly string[]): object;
  /** Outcomes that differ from the common ones, by digits. */
  other?: Readonly<Record<string, string | null>>;
  /** Digits of a product that is sold out. */
  soldOut?: string;
}

const items = (item: (digits: string) => object) => (all: readonly string[]) => ({
  items: all.map(item),
});

/** Jobs of every market (docs/sandbox.md, "By marketplace"). */
export const reservedItems: readonly ReservedItems[] = [
  {
    name: 'mkta variant_sold',
    path: '/v1/mkta/variant_sold_v1/submit',
    request: (all) => ({
      country: 'sg',
      items: all.map((digits) => ({ item_id: `20000000${digits}`, shop_id: '7001' })),
    }),
    // The market answers a captcha page for 812.
    other: { 812: 'page_blocked' },
    soldOut: '701',
  },
  {
    name: 'mktb pdp',
    path: '/v1/mktb/pdp/bulk/submit',
    request: items((digits) => ({ shop_domain: 'toko-7', product_key: `barang-${digits}` })),
    soldOut: '701',
  },
  {
    name: 'mktb search',
    path: '/v1/mktb/search/bulk/submit',
    request: items((digits) => ({ keyword: `kopi ${digits}` })),
    // Every keyword exists.
    other: { 800: null },
  },
  {
    name: 'mktc pdp',
    path: '/v1/mktc/pdp/bulk/submit',
    request: items((digits) => ({
      formattedId: `ps--GLN-60001-10${digits}`,
      sku: `GLN-60001-10${digits}-00001`,
    })),
    soldOut: '701',
  },
  {
    name: 'mktd pdp',
    path: '/v1/mktd/pdp/bulk/submit',
    request: items((digits) => ({ product_id: `1729000000${digits}`, country: 'my' })),
    soldOut: '706',
  },
  {
    name: 'mkte pdp',
    path: '/v1/mkte/pdp/bulk/submit',
    request: items((digits) => ({ asin: `B0GLN01${digits}`, country: 'us' })),
    soldOut: '704',
  },
  {
    name: 'mktf search',
    path: '/v1/mktf/search/bulk/submit',
    request: items((digits) => ({ url: `https://store.example/collections/lamps-${digits}` })),
  },
  {
    name: 'sites pdp',
    path: '/v1/sites/example/pdp/bulk/submit',
    request: items((digits) => ({ url: `https://shop.example/p/10${digits}` })),
  },
  {
    name: 'sites search',
    path: '/v1/sites/example/search/bulk/submit',
    request: items((digits) => ({ url: `https://shop.example/c/lamps-${digits}` })),
  },
];
