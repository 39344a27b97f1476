import { describe, expect, it } from 'vitest';
import { direct } from '../../sandbox/in-process-origin.ts';
import { mktb as originB } from '../../sandbox/mktb/index.ts';
import { mktc as originC } from '../../sandbox/mktc/index.ts';
import { mktf as originF } from '../../sandbox/mktf/index.ts';
import type { Origin } from '../../sandbox/origin.ts';
import { isObject, type Json, type JsonObject } from '../base/json.ts';
import { Fault } from '../contract/fault.ts';
import type { FetchPage, PageResponse } from '../fetch/page.ts';
import type { Reader } from './market.ts';
import { mktb } from './mktb/index.ts';
import { mktc } from './mktc/index.ts';
import { mktf } from './mktf/index.ts';

const oddities: Json[] = [null, true, -1, 1e300, '', 'odd', [], ['odd'], {}, { odd: 1 }];

/** Yields copies of a page, each with one part replaced by an unexpected value. */
function* mutated(value: Json): Generator<Json> {
  yield* oddities;
  if (Array.isArray(value)) {
    for (const [at, element] of value.entries()) {
      for (const odd of mutated(element)) yield value.with(at, odd);
    }
  } else if (isObject(value)) {
    for (const name of Object.keys(value)) {
      for (const odd of mutated(value[name] ?? null)) yield { ...value, [name]: odd };
    }
  }
}

/** Shortens every list of a page to three elements. */
function short(value: Json): Json {
  if (Array.isArray(value)) return value.slice(0, 3).map(short);
  if (!isObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, short(member ?? null)]));
}

/**
 * Returns the page for a reader's `extract`: a record's first page, or a listing's last page before its
 * entries.
 */
async function pageOf(
  reader: Reader,
  origin: Origin,
  input: JsonObject,
  region: string,
): Promise<PageResponse> {
  const responses: PageResponse[] = [];
  const { fetch } = direct(origin, region);
  const recorded: FetchPage = async (request) => {
    const response = await fetch(request);
    responses.push(response);
    return response;
  };
  const context = { region, fetch: recorded };
  await (reader.sort === 'record' ? reader.read(input, context) : reader.read(input, context).next());
  return reader.sort === 'record' ? responses[0]! : responses.at(-1)!;
}

const cases: [string, Reader, Origin, JsonObject, string][] = [
  ['mktb product', mktb.readers.product!, originB, { shop_domain: 'warung-5', product_key: 'rak-101' }, 'id'],
  ['mktb search', mktb.readers.search!, originB, { keyword: 'rak 701' }, 'id'],
  ['mktb older search', mktb.readers.search!, originB, { keyword: 'rak 706' }, 'id'],
  ['mktb category', mktb.readers.search!, originB, { list_type: 'category', keyword: '701' }, 'id'],
  ['mktb merchant', mktb.readers.merchant!, originB, { shopid: '5701' }, 'id'],
  [
    'mktc product',
    mktc.readers.product!,
    originC,
    { formattedId: 'ps--A-1-00104', sku: 'A-1-00104-00001' },
    'id',
  ],
  ['mktc merchant', mktc.readers.merchant!, originC, { shopid: 'A-60701' }, 'id'],
  ['mktf search', mktf.readers.search!, originF, { url: 'https://s.example/collections/a-701' }, ''],
  ['mktf search of words', mktf.readers.search!, originF, { url: 'https://s.example/search?q=wool' }, ''],
];

describe('a page with any part replaced is a record, a list or a fault, never another error', () => {
  it.each(cases)('%s', async (_name, reader, origin, input, region) => {
    const page = await pageOf(reader, origin, input, region);
    const value = short(JSON.parse(page.body.toString()) as Json);
    let tried = 0;
    for (const odd of mutated(value)) {
      tried += 1;
      try {
        reader.extract({ ...page, body: Buffer.from(JSON.stringify(odd)) }, input, region);
      } catch (thrown) {
        if (!(thrown instanceof Fault))
          throw new Error(JSON.stringify(odd).slice(0, 2000), { cause: thrown });
        expect(thrown.code).toMatch(/^page_/);
      }
    }
    expect(tried).toBeGreaterThan(100);
  });
});
