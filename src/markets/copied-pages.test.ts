import { expect, test } from 'vitest';
import { direct } from '../../sandbox/in-process-origin.ts';
import { mkta as originA } from '../../sandbox/mkta/index.ts';
import { mktd as originD } from '../../sandbox/mktd/index.ts';
import { mkte as originE } from '../../sandbox/mkte/index.ts';
import type { Origin } from '../../sandbox/origin.ts';
import type { JsonObject } from '../base/json.ts';
import type { FetchPage } from '../fetch/page.ts';
import type { RecordReader } from './market.ts';
import { product as productA, variants } from './mkta/product.ts';
import { product as productD } from './mktd/product.ts';
import { product as productE } from './mkte/product.ts';

const at = Date.UTC(2026, 4, 1);
const yesterday = at - 86_400_000;
const item = { item_id: '5000000123', shop_id: '77' };

test.each<[string, RecordReader, Origin, string, JsonObject, string, unknown]>([
  ['mkta', productA, originA, 'id', item, 'collected_at', yesterday / 1000],
  ['mkta variants', variants, originA, 'id', item, 'collected_at', yesterday / 1000],
  [
    'mktd',
    productD,
    originD,
    'my',
    { product_id: '1729000000000000123', country: 'my' },
    '_scraped_at',
    new Date(yesterday).toISOString(),
  ],
  [
    'mkte',
    productE,
    originE,
    'us',
    { asin: 'B0GLN01001', country: 'us' },
    '_scraped_at',
    new Date(yesterday).toISOString(),
  ],
])('a record of %s has the time of the copy that a cache sent', async (...row) => {
  const [, reader, origin, region, input, field, time] = row;
  const { fetch } = direct(origin, region, at);
  const copied: FetchPage = async (request) => {
    const page = await fetch(request);
    return { ...page, headers: { ...page.headers, age: '86400' } };
  };
  expect((await reader.read(input, { region, fetch: copied }))[field]).toBe(time);
});
