import { expect, test } from 'vitest';
import { createTestMarket } from '../../../test/support/pages/market.ts';
import { Fault, type FaultCode } from '../../contract/fault.ts';
import type { ListPage, ListSummary } from '../../markets/market.ts';
import { limitRecords } from './read-listing.ts';

const market = createTestMarket({ name: 'mktf', limits: { unitRecords: 250 } });

/** A listing of pages of 100 entries that counts its requested pages. */
function listing(pages: number) {
  const state = { read: 0, ended: false };
  async function* read(): AsyncGenerator<ListPage, ListSummary, void> {
    try {
      for (; state.read < pages; state.read += 1) {
        yield { list: 'products', entries: Array.from({ length: 100 }, (_, id) => ({ id })) };
      }
      return { total: pages * 100, has_more: false };
    } finally {
      state.ended = true;
    }
  }
  return { state, read };
}

test('limitRecords() yields a listing within the limit, with its summary', async () => {
  const { read } = listing(2);
  const pages = limitRecords(read(), market);
  expect((await pages.next()).value).toMatchObject({ list: 'products' });
  expect((await pages.next()).done).toBe(false);
  expect(await pages.next()).toEqual({ done: true, value: { total: 200, has_more: false } });
});

test('limitRecords() ends a listing at the first page above the limit', async () => {
  const { read, state } = listing(Number.POSITIVE_INFINITY);
  const pages = limitRecords(read(), market);
  await pages.next();
  await pages.next();
  await expect(pages.next()).rejects.toMatchObject({
    code: 'page_too_large',
    message: 'the listing contains more than 250 records, the limit of mktf',
  });
  expect(state).toEqual({ read: 2, ended: true });
});

test('limitRecords() closes the reader when the consumer stops', async () => {
  const { read, state } = listing(Number.POSITIVE_INFINITY);
  const pages = limitRecords(read(), market);
  await pages.next();
  await pages.return({ has_more: true });
  expect(state.ended).toBe(true);
});

test.each<[FaultCode, number, FaultCode]>([
  ['page_not_found', 0, 'page_not_found'],
  ['page_not_found', 1, 'page_failed'],
  ['page_private', 1, 'page_failed'],
  ['page_region', 1, 'page_failed'],
  ['page_blocked', 1, 'page_blocked'],
])('limitRecords() turns %s after %d pages into %s', async (code, pageCount, expected) => {
  async function* read(): AsyncGenerator<ListPage, ListSummary, void> {
    for (let page = 0; page < pageCount; page += 1)
      yield { list: 'products', entries: [{ id: page }] };
    throw new Fault(code, 'the site returned 404');
  }
  const pages = limitRecords(read(), market);
  for (let page = 0; page < pageCount; page += 1) await pages.next();
  await expect(pages.next()).rejects.toMatchObject({
    code: expected,
    message: expect.stringContaining('the site returned 404'),
  });
});
