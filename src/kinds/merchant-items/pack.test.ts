import { expect, test } from 'vitest';
import type { JsonObject } from '../../base/json.ts';
import type { ListPage, ListSummary } from '../../markets/market.ts';
import { aBatch, aJob } from '../../store/conformance/samples.ts';
import { shopFile } from './pack.ts';

const url = 'https://mkta.example.sg/shop/77?a="b"';
const unit = { key: url, input: { shop_id: '77' } };
const job = aJob();
const place = { job, batch: aBatch(job, 0, [unit]), collectedAt: 1_750_000_000, result: null };
const counts = { total_fetched: 2, total_count: 2, pages_fetched: 1 };
const ended = { has_more: true, items_has_more: false, rcmd_items_has_more: true };

const page = (list: string, ...ids: number[]): ListPage => ({
  list,
  entries: ids.map((itemid) => ({ itemid })),
});

async function* shop(
  pages: ListPage[],
  end: ListSummary,
): AsyncGenerator<ListPage, ListSummary, void> {
  yield* pages;
  return end;
}

async function write(
  pages: ListPage[],
  end: ListSummary,
): Promise<{ file: JsonObject; count: number }> {
  const chunks = shopFile.body(shop(pages, end), unit, place);
  let text = shopFile.head(unit, place);
  expect(text).not.toContain('\n');
  for (;;) {
    const { value, done } = await chunks.next();
    if (done) return { file: JSON.parse(text), count: value };
    text += value;
  }
}

const shopOf = (items: unknown, active: number[]) => ({
  collected_at: 1_750_000_000,
  success: true,
  shops: {
    [url]: {
      page_url: url,
      page_type: 'shop',
      page_params: { shop_id: '77' },
      rcmd_items: { items: active.map((itemid) => ({ itemid })), has_more: true },
      items,
    },
  },
  has_more: true,
});

test('writes the sold-out items with their counts, and the active items of every page', async () => {
  const pages = [
    page('items', 1, 2),
    page('rcmd_items', 3, 4),
    page('rcmd_items'),
    page('rcmd_items', 5),
  ];
  const { file, count } = await write(pages, { ...counts, ...ended });
  const items = [{ itemid: 1 }, { itemid: 2 }];
  expect(file).toEqual(shopOf({ items, ...counts, has_more: false }, [3, 4, 5]));
  expect(count).toBe(5);
});

test('writes an empty list for a shop without sold-out items', async () => {
  const none = { ...counts, total_fetched: 0, total_count: 0 };
  const { file } = await write([page('items'), page('rcmd_items', 3)], { ...none, ...ended });
  expect(file).toEqual(shopOf({ items: [], ...none, has_more: false }, [3]));
});

test('writes two empty lists for an empty shop, and null for missing values', async () => {
  const { file, count } = await write([], { ...ended, items_has_more: true });
  const untold = {
    items: [],
    total_fetched: 0,
    total_count: null,
    pages_fetched: null,
    has_more: true,
  };
  expect(file).toEqual(shopOf(untold, []));
  expect(count).toBe(0);
});

test('files are named after their unit’s place and the attempt', () => {
  const owner = aJob({ market: 'mkta', kind: 'merchant_items' });
  const batch = aBatch(owner, 2, [unit], { attempt: 3 });
  expect(shopFile.name(owner, batch)).toBe(`mkta_merchant_items_3_${batch.id}_3.json`);
});
