import { expect, test } from 'vitest';
import { pdpBulk } from '../../kinds/pdp-bulk/index.ts';
import { searchBulk } from '../../kinds/search-bulk/index.ts';
import { countRecords, type DownloadedFile } from './run.ts';

test('countRecords() counts the products of a search', async () => {
  const listing = '[{"keyword":"lamp","products":[\n{"id":1},\n{"id":2}\n],"total_products":2}]';
  const file = { bytes: Buffer.from(listing), records: JSON.parse(listing) };
  expect(await countRecords(searchBulk, file)).toBe(2);
});

test('countRecords() counts the records of a job', async () => {
  const file: DownloadedFile = { bytes: Buffer.from(''), records: [{}, {}, {}] };
  expect(await countRecords(pdpBulk, file)).toBe(3);
});
