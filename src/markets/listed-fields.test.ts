import type { DescMessage, Message } from '@bufbuild/protobuf';
import { describe, expect, test } from 'vitest';
import { direct } from '../../sandbox/in-process-origin.ts';
import { origins } from '../../sandbox/list.ts';
import type { JsonObject } from '../base/json.ts';
import { Fault } from '../contract/fault.ts';
import { messageReader } from '../contract/json/message-reader.ts';
import { createReadState } from '../contract/json/values.ts';
import { kinds } from '../kinds/list.ts';
import { findMismatches, type RecordFields } from '../quality/record-schema.ts';
import { demoJobs } from '../tools/demo/jobs.ts';
import { markets } from './list.ts';
import type { Market, PageName } from './market.ts';
import type { MarketSample } from './sample.ts';

/** Inputs of pages that the sandbox serves completely, by market and page. */
const pages: Record<string, Partial<Record<PageName, JsonObject[]>>> = {
  mkta: {
    product: ids(12).map((id) => ({ item_id: `${id}`, shop_id: '7' })),
    variants: ids(12).map((id) => ({ item_id: `${id}`, shop_id: '7' })),
    search: [{ keyword: 'lamp 001' }, { keyword: 'lamp 002' }, { keyword: 'lamp 003' }],
    merchant: [{ shop_id: '7003' }, { shop_id: '7004' }, { shop_id: '7005' }],
  },
  mktb: {
    product: ids(12).map((id) => ({ shop_domain: 'warung-5', product_key: `rak-${id}` })),
    search: [
      { keyword: 'rak 101' },
      { keyword: 'rak 706' },
      { list_type: 'category', keyword: '1101' },
    ],
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
  sites: {
    product: ids(12).map((id) => ({ url: `https://shop.example/p/${id}` })),
    search: [{ url: 'https://shop.example/c/mugs-101' }],
  },
};
const regions: Record<string, string> = {
  mkta: 'sg',
  mktb: 'id',
  mktc: 'id',
  mktd: 'my',
  mkte: 'us',
  mktf: '',
  sites: 'example',
};

function ids(count: number): number[] {
  return Array.from({ length: count }, (_, at) => 20_101 + at * 7);
}

/** Returns the record of a page, or the entries of a listing. */
async function recordsOf(
  market: Market,
  page: PageName,
  input: JsonObject,
  region: string,
): Promise<JsonObject[]> {
  const reader = market.readers[page]!;
  const origin = origins.find((each) => each.market === market.name)!;
  const context = { region, fetch: direct(origin, region, Date.UTC(2030, 0, 1)).fetch };
  if (reader.sort === 'record') return [await reader.read(input, context)];
  const records: JsonObject[] = [];
  for await (const { entries } of reader.read(input, context)) records.push(...entries);
  return records;
}

const missing = (records: readonly JsonObject[], fields: RecordFields) =>
  new Set(records.flatMap((record) => findMismatches(record, fields)));

const cases = Object.entries(pages).flatMap(([name, byPage]) => {
  const market = markets.find((each) => each.name === name)!;
  return Object.entries(byPage).map(([page, inputs]) => ({
    name,
    market,
    page: page as PageName,
    inputs,
  }));
});

test.each(cases)(
  'records of $name $page have its listed fields',
  async ({ name, market, page, inputs }) => {
    const records = (
      await Promise.all(inputs.map((input) => recordsOf(market, page, input, regions[name]!)))
    ).flat();
    expect(records.length).toBeGreaterThanOrEqual(inputs.length);
    expect(missing(records, market.listedFields[page]!)).toEqual(new Set());
  },
);

/** Maximum units of a sample that are read. */
const maxUnits = 10;

describe.each(markets)('$name', (market) => {
  const jobs = demoJobs(() => 'https://store.example').filter((job) => job.market === market.name);

  test('declares listed fields, a form of ids and a sample for each of its pages', () => {
    const names = Object.keys(market.readers).toSorted();
    expect(Object.keys(market.listedFields).toSorted()).toEqual(names);
    expect(Object.keys(market.ids).toSorted()).toEqual(names);
    const sampled = jobs.map((job) => kinds.find(({ name }) => name === job.kind)!.page);
    expect([...new Set(sampled)].toSorted()).toEqual(names);
  });

  test.each(jobs)(
    'the sample "$title" gives records with the listed fields',
    async ({ kind: name, jobType, ...job }) => {
      const kind = kinds.find((each) => each.name === name)!;
      const { groups } = await kind.plan(requestOf(jobType.request, job), jobType.request, market);
      const units = groups.flatMap(({ region, units: own }) =>
        own.map((unit) => ({ region, unit })),
      );
      const records = await Promise.all(
        units.slice(0, maxUnits).map(({ region, unit }) =>
          recordsOf(market, kind.page, unit.input, region).catch((fault: unknown) => {
            if (fault instanceof Fault && fault.code === 'page_not_found') return [];
            throw fault;
          }),
        ),
      );
      expect(records.flat().length).toBeGreaterThan(0);
      expect(missing(records.flat(), market.listedFields[kind.page]!)).toEqual(new Set());
    },
  );
});

/** Builds the request message of a sample. */
function requestOf(input: DescMessage, { body, csv }: Pick<MarketSample, 'body' | 'csv'>): Message {
  const message = messageReader(input)(body, createReadState(['body'])) as Message;
  return csv === undefined ? message : Object.assign(message, { file: Buffer.from(csv) });
}
