import { create } from '@bufbuild/protobuf';
import { expect, test } from 'vitest';
import { SubmitOptionsSchema } from '../../../../gen/gleaner/job/v1/submit_options_pb.ts';
import { findJobType } from '../../../../src/contract/job-types.ts';
import { optionParts, requestParts } from './request-parts.ts';

const jobType = (market: string, kind: string) => findJobType({ market, kind })!;

test('requestParts() names the fields and the first units of a request', () => {
  const items = Array.from({ length: 7 }, (_, at) => ({ item_id: String(at), shop_id: '7' }));
  expect(
    requestParts(jobType('mkta', 'variant_sold'), JSON.stringify({ country: 'id', items })),
  ).toEqual({
    fields: [['Country', 'Indonesia (id)']],
    units: ['0 · 7', '1 · 7', '2 · 7', '3 · 7', '4 · 7'],
    total: 7,
  });
  const urls = JSON.stringify({ urls: ['https://a.test'] });
  expect(requestParts(jobType('mkta', 'search_items'), urls)).toEqual({
    fields: [],
    units: ['https://a.test'],
    total: 1,
  });
});

test('optionParts() names the options that are set', () => {
  const options = create(SubmitOptionsSchema, {
    track: 'nightly',
    deliverTo: 'inbox',
    maxAge: '6h',
  });
  expect(Object.values(Object.fromEntries(optionParts(options))).toSorted()).toEqual([
    '6h',
    'inbox',
    'nightly',
  ]);
  expect(optionParts(undefined)).toEqual([]);
});
