import { describe, expect, test } from 'vitest';
import { jobTypes } from '../../../src/contract/job-types.ts';
import { readRequestShape } from '../ui/request/fields.ts';
import { bodyTemplate, countUnits } from './json-body.ts';

const shapeOf = (market: string, kind: string) =>
  readRequestShape(
    jobTypes.find((jobType) => jobType.market === market && jobType.kind === kind)!.method.input,
  );

describe('bodyTemplate()', () => {
  test.each([
    ['mkta', 'variant_sold', { country: '', items: [{ item_id: '', shop_id: '' }] }],
    ['mktd', 'pdp_bulk', { items: [{ product_id: '', country: '' }] }],
    ['mkta', 'search_items', { urls: [''] }],
    ['mkta', 'get_pc', { region: '', item_id: '', shop_id: '' }],
  ])('has every required field of %s %s once', (market, kind, expected) => {
    expect(JSON.parse(bodyTemplate(shapeOf(market, kind)))).toEqual(expected);
  });
});

test.each([
  ['mkta', 'variant_sold', '{"items": [{}, {}]}', 2],
  ['mkta', 'variant_sold', '{"items": 2}', null],
  ['mkta', 'variant_sold', '{', null],
  ['mkta', 'variant_sold', 'null', null],
  ['mkta', 'get_pc', '{}', 1],
])('countUnits() of %s %s for %s is %j', (market, kind, text, expected) => {
  expect(countUnits(shapeOf(market, kind), text)).toBe(expected);
});
