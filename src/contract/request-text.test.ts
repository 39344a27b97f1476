import { describe, expect, test } from 'vitest';
import { SubmitVariantSoldRequestSchema } from '../../gen/gleaner/mkta/v1/mkta_pb.ts';
import { Fault } from './fault.ts';
import { formatJson, parseJson, parseJsonLiterals } from './json/values.ts';
import { readRequestText } from './request-text.ts';

const item = { item_id: '1', shop_id: '2', country: 'sg' };

function problemsOf(text: string): [path: string, type: string][] {
  try {
    readRequestText(SubmitVariantSoldRequestSchema, text, ['body', 'request']);
  } catch (error) {
    return Fault.from(error).problems.map(({ loc, type }) => [loc.join('.'), type]);
  }
  return [];
}

describe('readRequestText()', () => {
  test('reads a request as its endpoint does', () => {
    const text = JSON.stringify({ items: [{ ...item, item_id: 17 }], other: 1 });
    expect(readRequestText(SubmitVariantSoldRequestSchema, text, ['body'])).toMatchObject({
      items: [{ itemId: '17', shopId: '2', country: 'sg' }],
    });
  });

  test('lists the problems of reading and of the rules, below the place of the text', () => {
    const items = [item, { ...item, shop_id: true }, { ...item, country: 'xx' }];
    expect(problemsOf(JSON.stringify({ items }))).toEqual([
      ['body.request.items.1.shop_id', 'string_type'],
      ['body.request.items.2.country', 'enum'],
    ]);
    expect(problemsOf('{}')).toEqual([['body.request.items', 'missing']]);
  });

  test('refuses numbers that are not written as integers as identifiers', () => {
    expect(problemsOf(`{"items":[{"item_id":1.0,"shop_id":2,"country":"sg"}]}`)).toEqual([
      ['body.request.items.0.item_id', 'string_type'],
    ]);
  });

  test.each(['', '[]', '7', '{', 'null', '[['])('refuses %j', (text) => {
    expect(problemsOf(text)).toHaveLength(1);
    expect(problemsOf(text)[0]![0]).toBe('body.request');
  });
});

describe('formatJson()', () => {
  test('keeps the difference between integers and other numbers', () => {
    const text = '{"a":1.0,"b":1,"c":[1e3,-2.5,1e21],"d":"1.0"}';
    const formatted = formatJson(parseJsonLiterals(text));
    expect(formatted).toBe('{"a":1.0,"b":1,"c":[1000.0,-2.5,1e+21],"d":"1.0"}');
    expect(formatJson(parseJson('{"__proto__":1}'))).toBe('{"__proto__":1}');
  });
});
