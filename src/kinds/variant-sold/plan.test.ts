import { create } from '@bufbuild/protobuf';
import { expect, test } from 'vitest';
import { SubmitVariantSoldRequestSchema } from '../../../gen/gleaner/mkta/v1/mkta_pb.ts';
import type { Fault } from '../../contract/fault.ts';
import { plan } from './index.ts';

const item = (itemId: string, country?: string) => ({
  itemId,
  shopId: '7',
  ...(country ? { country } : {}),
});
const planned = (items: ReturnType<typeof item>[], country?: string) =>
  plan(
    create(SubmitVariantSoldRequestSchema, { items, ...(country ? { country } : {}) }),
    SubmitVariantSoldRequestSchema,
    { regions: ['sg', 'my', 'th'] },
  );

function problemsOf(...parameters: Parameters<typeof planned>): unknown[] {
  try {
    planned(...parameters);
  } catch (error) {
    return (error as Fault).problems.map(({ loc, type }) => [loc, type]);
  }
  return [];
}

test.each([
  ['beside the items', () => planned([item('1'), item('2'), item('1')], 'sg')],
  ['on every item', () => planned([item('1', 'sg'), item('2', 'sg'), item('1', 'sg')])],
  ['beside and on some', () => planned([item('1'), item('2', 'sg'), item('1')], 'sg')],
])(
  'the country %s gives one group with every item, also duplicates, in the order submitted',
  (_, make) => {
    const unit = (id: string) => ({ key: id, input: { item_id: id, shop_id: '7' } });
    expect(make()).toEqual({
      groups: [{ region: 'sg', units: [unit('1'), unit('2'), unit('1')] }],
      region: 'sg',
      params: {},
    });
  },
);

const place = (index: number) => ['body', 'items', index, 'country'];

test('reports a missing country on every item', () => {
  expect(problemsOf([item('1'), item('2')])).toEqual(
    [0, 1].map((index) => [place(index), 'missing']),
  );
});

test('reports a missing country on one item', () => {
  expect(problemsOf([item('1', 'sg'), item('2')])).toEqual([[place(1), 'missing']]);
});

test('rejects a country that differs from the first item’s or the request’s', () => {
  expect(problemsOf([item('1', 'sg'), item('2', 'my'), item('3', 'th')])).toEqual([
    [place(1), 'value_error'],
    [place(2), 'value_error'],
  ]);
  expect(problemsOf([item('1', 'my')], 'sg')).toEqual([[place(0), 'value_error']]);
});

test('compares no item with a country that the contract rejects', () => {
  expect(problemsOf([item('1', 'xx'), item('2', 'sg'), item('3', 'my')])).toEqual([
    [place(2), 'value_error'],
  ]);
  expect(problemsOf([item('1', 'sg'), item('2', 'sg')], 'xx')).toEqual([]);
});

test.each([
  ['Field required', [item('1')]],
  ["One country per request: 'my' is not 'sg'", [item('1', 'sg'), item('2', 'my')]],
])('the problem says: %s', (msg, items) => {
  const plans = () => planned(items);
  expect(plans).toThrow(
    expect.objectContaining({ code: 'invalid', problems: [expect.objectContaining({ msg })] }),
  );
});

test('reports at most 100 problems', () => {
  expect(problemsOf(new Array(500).fill(item('1')))).toHaveLength(100);
});
