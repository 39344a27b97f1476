import { expect, test } from 'vitest';
import { SearchItemsResultSchema } from '../../gen/gleaner/mkta/v1/mkta_pb.ts';
import {
  MerchantResultSchema,
  SearchResultSchema as ResultOfB,
} from '../../gen/gleaner/mktb/v1/mktb_pb.ts';
import { SearchResultSchema as ResultOfE } from '../../gen/gleaner/mkte/v1/mkte_pb.ts';
import type { ListPage, ListSummary } from '../markets/market.ts';
import type { Unit } from '../store/batches.ts';
import { aBatch, aJob } from '../store/conformance/samples.ts';
import type { Job } from '../store/documents.ts';
import type { ResultShape } from './kind.ts';
import { listingFile } from './listing.ts';

async function* pagesOf(
  list: string,
  pages: number[][],
  end: ListSummary,
): AsyncGenerator<ListPage, ListSummary, void> {
  for (const ids of pages) yield { list, entries: ids.map((id) => ({ id })) };
  return end;
}

async function write(
  result: ResultShape,
  list: string,
  pages: number[][],
  unit: Unit,
  { end = {}, job = {} }: { end?: Partial<ListSummary>; job?: Partial<Job> } = {},
) {
  const owner = aJob({ createdAt: Date.UTC(2026, 0, 2, 7, 59), ...job });
  const batch = aBatch(owner, 0, [unit]);
  const place = { job: owner, batch, collectedAt: 1_750_000_000, result };
  const chunks = listingFile.body(pagesOf(list, pages, { has_more: true, ...end }), unit, place);
  let text = listingFile.head(unit, place);
  expect(text).not.toContain('\n');
  for (;;) {
    const { value, done } = await chunks.next();
    if (done) return { file: JSON.parse(text), count: value, batchId: batch.id };
    text += value;
  }
}

const identified = { params: { identity: [] } };

test('a search of A has the submitted URL and the number of its items', async () => {
  const result = { message: SearchItemsResultSchema, inArray: false };
  const unit = { key: 'https://x/search?keyword=a', input: { keyword: 'a' } };
  const { file, count } = await write(result, 'items', [[1, 2], [], [3]], unit);
  expect(file).toEqual({
    collected_at: 1_750_000_000,
    success: true,
    url: unit.key,
    total_items: 3,
    items: [{ id: 1 }, { id: 2 }, { id: 3 }],
    has_more: true,
  });
  expect(count).toBe(3);
});

test('a search of B is an array with one object', async () => {
  const result = { message: ResultOfB, inArray: true };
  const unit = { key: 'k', input: { list_type: 'search', keyword: 'kopi', product_limit: 5 } };
  const { file, batchId } = await write(result, 'products', [[]], unit, { job: identified });
  expect(file).toEqual([
    { batch_id: batchId, keyword: 'kopi', list_type: 'search', products: [], has_more: true },
  ]);
});

test('the file has the listing’s summary, and null for missing values', async () => {
  const result = { message: MerchantResultSchema, inArray: true };
  const unit = { key: '6', input: { shopid: '6' } };
  const told = await write(result, 'products', [[1]], unit, {
    end: { store_name: 'Toko “6”' },
    job: identified,
  });
  expect(told.file[0]).toMatchObject({ shopid: '6', store_name: 'Toko “6”', total_products: 1 });
  const untold = await write(result, 'products', [[1]], unit, { job: identified });
  expect(untold.file[0]).toMatchObject({ store_name: null });
});

test('a search of E has the number of pages, and the day and hour of the submission in UTC', async () => {
  const result = { message: ResultOfE, inArray: false };
  const unit = {
    key: 'k',
    input: { list_type: 'search', keyword: 'desk lamp', country: 'uk', pages: 0 },
  };
  const { file, batchId } = await write(result, 'products', [[1], [2], []], unit, {
    job: identified,
  });
  expect(file).toEqual({
    batch_id: batchId,
    list_type: 'search',
    keyword: 'desk lamp',
    country: 'uk',
    total_products: 2,
    products: [{ id: 1 }, { id: 2 }],
    scraped_pages: 3,
    submit_date: '2026-01-02',
    submit_hour: '07',
    has_more: true,
  });
});

test('files are named after their unit’s place and the attempt', () => {
  const job = aJob({ market: 'mktx', kind: 'search_bulk' });
  const batch = aBatch(job, 2, [], { attempt: 3 });
  expect(listingFile.name(job, batch)).toBe(`mktx_search_bulk_3_${batch.id}_3.json`);
});

test('throws for a list that the file does not declare', async () => {
  const result = { message: ResultOfB, inArray: true };
  const unit = { key: 'k', input: { keyword: 'kopi' } };
  await expect(write(result, 'items', [[1]], unit, { job: identified })).rejects.toThrow(/'items'/);
});
