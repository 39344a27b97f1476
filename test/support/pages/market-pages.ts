import { changeKey, type PageChange, withChanges } from '../../../sandbox/changes.ts';
import { direct } from '../../../sandbox/in-process-origin.ts';
import { origins } from '../../../sandbox/list.ts';
import type { JsonObject } from '../../../src/base/json.ts';
import { markets } from '../../../src/markets/list.ts';
import type { PageName } from '../../../src/markets/market.ts';

/** A page of the sandbox, by the input of its reader. */
export type MarketPage = [market: string, region: string, page: PageName, input: JsonObject];

/** One page of each type of each market. */
export const marketPages: MarketPage[] = [
  ['mkta', 'id', 'product', { item_id: '30000000001', shop_id: '77' }],
  ['mkta', 'id', 'variants', { item_id: '30000000001', shop_id: '77', country: 'id' }],
  ['mkta', 'id', 'search', { list_type: 'search', keyword: 'lamp 001', country: 'id' }],
  ['mkta', 'id', 'merchant', { shop_id: '5003', country: 'id' }],
  ['mktb', 'id', 'product', { shop_domain: 'toko-7', product_key: 'barang-1001' }],
  ['mktb', 'id', 'search', { list_type: 'search', keyword: 'kopi 101', product_limit: 20 }],
  ['mktb', 'id', 'merchant', { shopid: '6001', max_pages: 1 }],
  ['mktc', 'id', 'product', { formattedId: 'ps--GLN-60001-10000', sku: '' }],
  ['mktc', 'id', 'merchant', { shopid: 'GLN-60101', limit: 20 }],
  ['mktd', 'th', 'product', { product_id: '1729000000000', country: 'th' }],
  ['mkte', 'de', 'product', { asin: 'B0GLN01001', country: 'de' }],
  ['mkte', 'de', 'search', { list_type: 'search', keyword: 'lamp', country: 'de', pages: 1 }],
  ['mktf', '', 'search', { url: 'https://store.example/collections/lamps' }],
  ['sites', 'example', 'product', { url: 'https://shop.example/p/10001' }],
  ['sites', 'example', 'search', { url: 'https://shop.example/c/lamps' }],
];

/**
 * Reads the record of a page, or the first entries of a listing, while changes apply to items, and
 * another one to every item.
 */
export async function readMarketPage(
  [market, region, page, input]: MarketPage,
  changes: Record<string, PageChange> = {},
  ofEveryItem?: PageChange,
): Promise<JsonObject[]> {
  const origin = origins.find((each) => each.market === market)!;
  const applied = new Map(
    Object.entries(changes).map(([id, change]) => [changeKey(market, region, id), change]),
  );
  const { fetch } = direct(
    {
      ...origin,
      respond: (request) => withChanges(applied, () => origin.respond(request), ofEveryItem),
    },
    region,
    Date.UTC(2026, 0, 1),
  );
  const { readers } = markets.find(({ name }) => name === market)!;
  const reader = readers[page]!;
  if (reader.sort === 'record') return [await reader.read(input, { region, fetch })];
  for await (const { entries } of reader.read(input, { region, fetch }))
    if (entries.length > 0) return [...entries];
  return [];
}
