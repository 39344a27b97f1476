import { describe, expect, test } from 'vitest';
import { direct } from '../../sandbox/direct.ts';
import { origins } from '../../sandbox/list.ts';
import type { JsonObject } from '../base/json.ts';
import { markets } from '../markets/list.ts';
import type { PageName } from '../markets/market.ts';
import { listedFields } from './listed-fields.ts';
import { missesOf } from './shape.ts';

/** Pages of each sort whose goods are served whole, as units' inputs. */
const pages: Record<string, Partial<Record<PageName, JsonObject[]>>> = {
  mkta: {
    product: ids(12).map((id) => ({ item_id: `${id}`, shop_id: '7' })),
    variants: ids(12).map((id) => ({ item_id: `${id}`, shop_id: '7' })),
    search: [{ keyword: 'lamp 001' }, { keyword: 'lamp 002' }, { keyword: 'lamp 003' }],
    merchant: [{ shop_id: '7003' }, { shop_id: '7004' }, { shop_id: '7005' }],
  },
  mktb: {
    product: ids(12).map((id) => ({ shop_domain: 'warung-5', product_key: `rak-${id}` })),
    search: [{ keyword: 'rak 101' }, { keyword: 'rak 706' }, { list_type: 'category', keyword: '1101' }],
    merchant: [{ shopid: '5101' }],
  },
  mktc: {
    product: ids(12).map((id) => ({ formattedId: `ps--A-1-${id}`, sku: `A-1-${id}-00001` })),
    merchant: [{ shopid: 'A-60101' }],
  },
  mktd: { product: ids(12).map((id) => ({ product_id: `1729000000000${id}`, country: 'my' })) },
  mkte: {
    product: ids(12).map((id) => ({ asin: `B0000${id}`, country: 'us' })),
    search: [{ list_type: 'search', keyword: 'lamp 101', country: 'us' }],
  },
  mktf: { search: [{ url: 'https://kiln.example/collections/cups-101' }] },
};
const regions: Record<string, string> = {
  mkta: 'sg',
  mktb: 'id',
  mktc: 'id',
  mktd: 'my',
  mkte: 'us',
  mktf: '',
};

function ids(count: number): number[] {
  return Array.from({ length: count }, (_, at) => 20_101 + at * 7);
}

/** The records of a page, or the entries of a listing's first pages. */
async function recordsOf(market: string, page: PageName, input: JsonObject): Promise<JsonObject[]> {
  const reader = markets.find(({ name }) => name === market)!.readers[page]!;
  const region = regions[market]!;
  const origin = origins.find((each) => each.market === market)!;
  const context = { region, fetch: direct(origin, region, Date.UTC(2030, 0, 1)).fetch };
  if (reader.sort === 'record') return [await reader.read(input, context)];
  const records: JsonObject[] = [];
  for await (const { entries } of reader.read(input, context)) records.push(...entries);
  return records;
}

const cases = markets.flatMap(({ name, readers }) =>
  Object.keys(readers).map((page) => [name, page as PageName] as const),
);

describe('every sort of page has listed fields, and its records have them', () => {
  test.each(cases)('%s %s', async (market, page) => {
    const shape = (listedFields as Record<string, Partial<Record<PageName, string>>>)[market]?.[page];
    expect(shape).toBeDefined();
    const inputs = pages[market]![page]!;
    const records = (await Promise.all(inputs.map((input) => recordsOf(market, page, input)))).flat();
    expect(records.length).toBeGreaterThanOrEqual(inputs.length);
    expect(new Set(records.flatMap((record) => missesOf(record, shape!)))).toEqual(new Set());
  });
});
