import { expect, test } from 'vitest';
import { direct } from '../../sandbox/in-process-origin.ts';
import { origins } from '../../sandbox/list.ts';
import { isObject, type Json, type JsonObject } from '../base/json.ts';
import type { FetchPage } from '../fetch/page.ts';
import { markets } from './list.ts';
import type { PageName } from './market.ts';

const news = { deep: [{ er: 'kept' }, null, 0.5] };

/** Adds an unknown field to every object at a path of a JSON response. */
function withNews(value: Json | undefined, [step, ...rest]: string[]): void {
  if (Array.isArray(value)) {
    for (const element of value) withNews(element, step === undefined ? [] : [step, ...rest]);
  } else if (isObject(value)) {
    if (step === undefined) value.brandNew = news;
    else withNews(value[step], rest);
  }
}

const cases: [string, PageName, JsonObject, string, string][] = [
  ['mkta', 'product', { item_id: '20101', shop_id: '7' }, 'data', 'data'],
  ['mkta', 'product', { item_id: '20101', shop_id: '7' }, 'data.item', 'data.item'],
  ['mkta', 'product', { item_id: '20101', shop_id: '7' }, 'data.item.models', 'data.item.models'],
  ['mkta', 'search', { keyword: 'lamp 001' }, 'items', ''],
  ['mkta', 'search', { keyword: 'lamp 002' }, 'items.item_basic', ''],
  ['mkta', 'search', { keyword: 'lamp 003' }, 'items.item_data', ''],
  ['mkta', 'merchant', { shop_id: '7003' }, 'items.item_basic', ''],
  [
    'mktb',
    'product',
    { shop_domain: 'w-5', product_key: 'rak-1' },
    'data.pdpGetLayout',
    'data.variants',
  ],
  [
    'mktb',
    'product',
    { shop_domain: 'w-5', product_key: 'rak-1' },
    'data.pdpGetLayout.basicInfo',
    'data.variants.basicInfo',
  ],
  [
    'mktb',
    'product',
    { shop_domain: 'w-5', product_key: 'rak-1' },
    'data.pdpGetLayout.components.data',
    'data.variants.components.data',
  ],
  ['mktb', 'search', { keyword: 'rak 101' }, 'data.searchProductV5.data.products', ''],
  ['mktb', 'merchant', { shopid: '5101' }, 'data.GetShopProduct.data', ''],
  [
    'mktc',
    'product',
    { formattedId: 'ps--A-1-20101', sku: 'A-1-20101-00001' },
    'data',
    'data.summary',
  ],
  [
    'mktc',
    'product',
    { formattedId: 'ps--A-1-20101', sku: 'A-1-20101-00001' },
    'data.price',
    'data.summary.price',
  ],
  [
    'mktc',
    'product',
    { formattedId: 'ps--A-1-20101', sku: 'A-1-20101-00001' },
    'data.options',
    'data.items',
  ],
  ['mktc', 'merchant', { shopid: 'A-60101' }, 'data.products', ''],
  [
    'mktd',
    'product',
    { product_id: '1729000000000705' },
    'page_config.components_map.component_data.product_info.product_model',
    'product_info.product_model',
  ],
  [
    'mktd',
    'product',
    { product_id: '1729000000000705' },
    'page_config.components_map.component_data',
    '',
  ],
  ['mktf', 'search', { url: 'https://kiln.example/collections/cups-701' }, 'products', ''],
  [
    'mktf',
    'search',
    { url: 'https://kiln.example/collections/cups-701' },
    'products.variants',
    'variants',
  ],
];
const regions: Record<string, string> = {
  mkta: 'sg',
  mktb: 'id',
  mktc: 'id',
  mktd: 'my',
  mktf: '',
};

/** Returns the first value at a path through objects and the first elements of arrays. */
function at(value: Json | undefined, path: string): Json | undefined {
  let found = value;
  for (const step of path.split('.').filter((each) => each !== '')) {
    const inside = Array.isArray(found) ? found[0] : found;
    found = isObject(inside) ? inside[step] : undefined;
  }
  return Array.isArray(found) ? found[0] : found;
}

test.each(cases)('%s %s of %j keeps a new field of %s', async (market, page, input, from, to) => {
  const region = regions[market]!;
  const asked = direct(
    origins.find((origin) => origin.market === market)!,
    region,
    Date.UTC(2030, 0, 1),
  );
  const fetch: FetchPage = async (request) => {
    const response = await asked.fetch(request);
    const body = JSON.parse(response.body.toString()) as Json;
    withNews(body, from.split('.'));
    return { ...response, body: Buffer.from(JSON.stringify(body)) };
  };
  const reader = markets.find(({ name }) => name === market)!.readers[page]!;
  const context = { region, fetch };
  const record =
    reader.sort === 'record'
      ? await reader.read(input, context)
      : ((await reader.read(input, context).next()).value as { entries: JsonObject[] }).entries[0];
  expect((at(record, to) as JsonObject).brandNew).toEqual(news);
});
