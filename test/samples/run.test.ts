import { describe, expect, test } from 'vitest';
import type { JsonObject } from '../../src/base/json.ts';
import { Fault, type FaultCode } from '../../src/contract/fault.ts';
import type { Market } from '../../src/markets/market.ts';
import { createTestMarket } from '../support/pages/market.ts';
import { bodyOf, type Sample } from './manifest.ts';
import { runSample } from './run.ts';

function market(extract: (body: string) => JsonObject): Market {
  return createTestMarket({
    name: 'mktb',
    regions: ['id'],
    readers: {
      product: {
        sort: 'record',
        read: async () => ({}),
        extract: (response) => extract(response.body.toString()),
      },
      merchant: {
        sort: 'list',
        // biome-ignore lint/correctness/useYield: only extract is asked for here
        read: async function* () {
          return { has_more: false };
        },
        extract: (response) => [extract(response.body.toString())],
      },
    },
  });
}

const entry: Sample = {
  file: 'a.json',
  market: 'mktb',
  region: 'id',
  page: 'product',
  content_type: 'application/json',
  request: {},
  outcome: 'record',
  optional: false,
};

function failing(code: FaultCode) {
  return [
    market(() => {
      throw new Fault(code, 'no');
    }),
  ];
}

function run(sample: Partial<Sample>, markets: readonly Market[], body = '{"a":1}') {
  return runSample({ ...entry, ...sample } as Sample, Buffer.from(body), markets, 0).result;
}

describe('bodyOf()', () => {
  test('returns the file, one of its elements, or that element wrapped', () => {
    const bytes = Buffer.from('[{"a": 1}, {"b": "$&"}]');
    expect(bodyOf({ file: 'f' }, bytes)).toBe(bytes);
    expect(bodyOf({ file: 'f', index: 1 }, bytes).toString()).toBe('{"b":"$&"}');
    expect(bodyOf({ file: 'f', index: 1, wrap: '{"data":$body}' }, bytes).toString()).toBe(
      '{"data":{"b":"$&"}}',
    );
    expect(() => bodyOf({ file: 'f', index: 2 }, bytes)).toThrow('f: no element 2');
  });
});

describe('runSample()', () => {
  test('compares the JSON that a client receives', () => {
    const markets = [market((body) => ({ ...JSON.parse(body), gone: undefined }))];
    expect(run({ expect: { a: 1 }, absent: ['gone'] }, markets)).toBe('held');
    expect(run({ expect: { a: 2 } }, markets)).toBe('missed');
  });

  test('wraps a list under its name in the result file', () => {
    const markets = [market((body) => JSON.parse(body))];
    expect(run({ page: 'shop', outcome: 'list', expect: { 'products.0.a': 1 } }, markets)).toBe(
      'held',
    );
  });

  test('requires the expected fault', () => {
    expect(run({ outcome: 'fault', fault: 'blocked' }, failing('page_blocked'))).toBe('held');
    expect(run({ outcome: 'fault', fault: 'not_found' }, failing('page_blocked'))).toBe('missed');
    expect(run({ outcome: 'fault', fault: 'blocked' }, failing('internal'))).toBe('missed');
    expect(run({ outcome: 'fault', fault: 'blocked' }, [market(() => ({}))])).toBe('missed');
    expect(run({}, failing('page_blocked'))).toBe('missed');
  });

  test('accepts an unreadable older form, but not a blocked one', () => {
    expect(run({ optional: true }, failing('page_unreadable'))).toBe('skipped');
    expect(run({ optional: true }, failing('page_blocked'))).toBe('missed');
  });

  test('skips an unknown market or reader', () => {
    expect(run({}, [])).toBe('skipped');
    expect(run({ page: 'search' }, [market(() => ({}))])).toBe('skipped');
  });

  test('reports any other exception as an error of the reader', () => {
    const markets = [
      market(() => {
        throw new TypeError('x');
      }),
    ];
    expect(() => run({}, markets)).toThrow('a.json (product)');
  });
});
