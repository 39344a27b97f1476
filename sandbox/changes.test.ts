import { describe, expect, test } from 'vitest';
import type { JsonObject } from '../src/base/json.ts';
import { Fault } from '../src/contract/fault.ts';
import { markets } from '../src/markets/list.ts';
import type { PageName } from '../src/markets/market.ts';
import { changeKey, type PageChange, parseChange, withChanges } from './changes.ts';
import { direct } from './in-process-origin.ts';
import { origins } from './list.ts';
import { startOrigins } from './server.ts';

/** A page about an item, and where its price is in the record. */
interface Page {
  market: string;
  region: string;
  page: PageName;
  input: JsonObject;
  id(record: JsonObject): string;
  price(record: JsonObject): unknown;
}

const at = (record: unknown, path: string): unknown =>
  path
    .split('.')
    .reduce<unknown>((value, name) => (value as JsonObject | undefined)?.[name], record);
const item = (
  market: string,
  region: string,
  input: JsonObject,
  id: string,
  price: string,
): Page => ({
  market,
  region,
  page: 'product',
  input,
  id: (record) => String(at(record, id)),
  price: (record) => at(record, price),
});
const entry = (
  market: string,
  region: string,
  page: PageName,
  input: JsonObject,
  id: string,
): Page => ({
  ...item(market, region, input, id, 'price'),
  page,
});

const products: Page[] = [
  item(
    'mkta',
    'id',
    { item_id: '30000000001', shop_id: '77' },
    'data.item.item_id',
    'data.item.models.0.price',
  ),
  item(
    'mktb',
    'id',
    { shop_domain: 'toko-7', product_key: 'barang-1001' },
    'data.variants.basicInfo.id',
    'data.variants.pdpSession',
  ),
  item(
    'mktc',
    'id',
    { formattedId: 'ps--GLN-60001-10000', sku: '' },
    'data.summary.id',
    'data.summary.price.price',
  ),
  item('mktd', 'th', { product_id: '1729000000000', country: 'th' }, 'product.id', 'product.price'),
  item('mkte', 'de', { asin: 'B0GLN01001', country: 'de' }, '_asin', 'price.amount'),
];

const listings: Page[] = [
  entry(
    'mkta',
    'id',
    'search',
    { list_type: 'search', keyword: 'lamp 006', country: 'id' },
    'itemid',
  ),
  entry(
    'mktb',
    'id',
    'search',
    { list_type: 'search', keyword: 'kopi 101', product_limit: 20 },
    'id',
  ),
  entry('mktb', 'id', 'merchant', { shopid: '6001', max_pages: 1 }, 'id'),
  entry('mktc', 'id', 'merchant', { shopid: 'GLN-60101', limit: 20 }, 'id'),
  entry(
    'mkte',
    'de',
    'search',
    { list_type: 'search', keyword: 'lamp', country: 'de', pages: 1 },
    'asin',
  ),
  {
    ...entry('mktf', '', 'search', { url: 'https://store.example/collections/lamps' }, 'id'),
    price: (record) => at(record, 'variants.0.price'),
  },
];

/** Reads a page while changes apply, and returns its first records. */
async function read(
  { market, region, page, input }: Page,
  changes: Record<string, PageChange>,
): Promise<JsonObject[]> {
  const origin = origins.find((each) => each.market === market)!;
  const applied = new Map(
    Object.entries(changes).map(([id, change]) => [changeKey(market, region, id), change]),
  );
  const changed = direct(
    { ...origin, respond: (request) => withChanges(applied, () => origin.respond(request)) },
    region,
    Date.UTC(2026, 0, 1),
  );
  const reader = markets.find(({ name }) => name === market)!.readers[page]!;
  const reading = { region, fetch: changed.fetch };
  if (reader.sort === 'record') return [await reader.read(input, reading)];
  for await (const { entries } of reader.read(input, reading)) return [...entries];
  return [];
}

describe('a changed item', () => {
  test.each(products.map((page) => [page.market, page] as const))(
    'has other values on its page of %s',
    async (_, page) => {
      const [before] = await read(page, {});
      const id = page.id(before!);
      expect(await read(page, { [id]: {} })).toEqual([before]);
      expect(await read(page, { other: { title: 'Renamed' } })).toEqual([before]);
      const [after] = await read(page, { [id]: { priceFactor: 0.5, title: 'Renamed', stock: 3 } });
      expect(page.id(after!)).toBe(id);
      expect(page.price(after!)).not.toEqual(page.price(before!));
      expect(JSON.stringify(after)).toContain('Renamed');
    },
  );

  test.each(products.map((page) => [page.market, page] as const))(
    'is not found on %s once it is removed',
    async (_, page) => {
      const [before] = await read(page, {});
      const removed = read(page, { [page.id(before!)]: { isRemoved: true } });
      await expect(removed.catch((error) => Promise.reject(Fault.from(error).code))).rejects.toBe(
        'page_not_found',
      );
    },
  );

  test.each(listings.map((page) => [`${page.market} ${page.page}`, page] as const))(
    'changes in the listing of %s',
    async (_, page) => {
      const before = await read(page, {});
      const id = page.id(before[1]!);
      const after = await read(page, { [id]: { priceFactor: 0.5, title: 'Renamed' } });
      expect(after.map(page.id)).toEqual(before.map(page.id));
      const changed = after.filter(
        (record, index) => JSON.stringify(record) !== JSON.stringify(before[index]),
      );
      expect(new Set(changed.map(page.id))).toEqual(new Set([id]));
      expect(page.price(after[1]!)).not.toEqual(page.price(before[1]!));
      expect(JSON.stringify(after[1])).toContain('Renamed');
      const without = await read(page, { [id]: { isRemoved: true } });
      // A list with a limit is filled up by the items that follow.
      const left = before.map(page.id).filter((each) => each !== id);
      expect(without.map(page.id).slice(0, left.length)).toEqual(left);
      expect(without.map(page.id)).not.toContain(id);
    },
  );
});

test('an item is changed and restored over HTTP, at one address', async () => {
  const running = await startOrigins({
    origins: origins.filter(({ market }) => market === 'mktf'),
  });
  try {
    const address = running.address('mktf', '');
    const first = async () => {
      const {
        products: [product],
      } = (await (await fetch(`${address}/products.json?limit=1`)).json()) as {
        products: JsonObject[];
      };
      return product!;
    };
    const { id, title } = await first();
    const url = `${address}/.sandbox/items/${id}`;
    expect((await fetch(url, { method: 'PUT', body: '{"title": "Renamed"}' })).status).toBe(204);
    expect(await first()).toMatchObject({ id, title: 'Renamed' });
    expect((await fetch(url, { method: 'DELETE' })).status).toBe(204);
    expect(await first()).toMatchObject({ id, title });
    running.changeItem('mktf', '', String(id), { title: 'Once more' });
    expect(await first()).toMatchObject({ title: 'Once more' });
    expect((await fetch(url)).status).toBe(405);
    const refused = await fetch(url, { method: 'PUT', body: '{"cost": 1}' });
    expect([refused.status, await refused.text()]).toEqual([
      400,
      '"cost" is not a change of an item\n',
    ]);
  } finally {
    await running.stop();
  }
});

test.each([
  ['{"priceFactor": -1}', /"priceFactor" must be a number/],
  ['{"stock": "3"}', /"stock" must be a number/],
  ['{"title": 3}', /"title" must be a string/],
  ['{"isRemoved": 1}', /"isRemoved" must be a boolean/],
])('parseChange() refuses %s', (body, message) => {
  expect(() => parseChange(body)).toThrow(message);
});
