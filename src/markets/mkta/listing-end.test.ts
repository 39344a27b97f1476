import { expect, test } from 'vitest';
import type { JsonObject } from '../../base/json.ts';
import type { FetchPage } from '../../fetch/page.ts';
import type { ListReader } from '../market.ts';
import { merchant } from './merchant.ts';
import { search } from './search.ts';

const items = (count: number) =>
  Array.from({ length: count }, (_, id) => ({ itemid: id + 1, shopid: 7, name: `Mug ${id}` }));

/** Returns the summary of a listing whose pages are these. The last one repeats. */
async function summaryOf(reader: ListReader, input: JsonObject, bodies: readonly JsonObject[]) {
  let count = 0;
  const fetch: FetchPage = async ({ path }) => {
    const isActive = path.includes('rcmd_items');
    const listed = isActive ? page(0, { total: 0 }) : bodies[Math.min(count, bodies.length - 1)];
    const body = JSON.stringify(listed);
    count += 1;
    return { status: 200, headers: {}, body: Buffer.from(body), url: 'http://x/', at: 0 };
  };
  const pages = reader.read(input, { region: 'sg', fetch });
  for (;;) {
    const next = await pages.next();
    if (next.done) return next.value;
  }
}

const page = (count: number, rest: JsonObject = {}): JsonObject => ({
  error: 0,
  items: items(count),
  ...rest,
});

test.each([
  ['empty', [page(100, { total_count: 250 }), page(0, { total_count: 250 })], true],
  ['repeated', [page(100, { total_count: 250 })], true],
  ['the last one', [page(100, { total_count: 100 })], false],
])('a shop whose second page is %s states its further products', async (_, bodies, hasMore) =>
  expect(await summaryOf(merchant, { shop_id: '7' }, bodies)).toMatchObject({
    items_has_more: hasMore,
    has_more: hasMore,
  }),
);

test.each([
  ['says that a page follows', { nomore: false }, true],
  ['says that it ends', { nomore: true }, false],
  ['estimates a total', { total_count: 500 }, false],
])('a search whose empty second page %s', async (_, rest, hasMore) =>
  expect(
    await summaryOf(search, { keyword: 'mug' }, [page(60, { nomore: false }), page(0, rest)]),
  ).toMatchObject({ has_more: hasMore }),
);
