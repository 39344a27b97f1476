import { describe, expect, test } from 'vitest';
import { jobTypes } from '../../../../src/contract/job-types.ts';
import { readRequestShape } from './fields.ts';
import {
  expandRows,
  formLayout,
  isFormField,
  pastedRows,
  sharedOfFile,
  unitFills,
} from './form-layout.ts';

const shapeOf = (market: string, kind: string) =>
  readRequestShape(
    jobTypes.find((jobType) => jobType.market === market && jobType.kind === kind)!.method.input,
  );
const names = (fields: readonly { name: string }[] | null) => fields?.map(({ name }) => name);

describe('formLayout()', () => {
  test('asks once for a choice that request and units have', () => {
    const { shared, row } = formLayout(shapeOf('mkta', 'variant_sold'));
    expect(shared.map(({ name, required }) => [name, required])).toEqual([['country', true]]);
    expect(names(row)).toEqual(['item_id', 'shop_id']);
  });

  test('asks once for a required choice of the units', () => {
    const { shared, row } = formLayout(shapeOf('mktd', 'pdp_bulk'));
    expect(names(shared)).toEqual(['country']);
    expect(names(row)).not.toContain('country');
  });

  test('has no rows for a list of texts', () => {
    expect(formLayout(shapeOf('mkta', 'search_items')).row).toBeNull();
  });
});

describe('sharedOfFile()', () => {
  const required = (units: Record<string, string>[]) =>
    sharedOfFile(shapeOf('mkta', 'variant_sold'), units).map(({ name, required }) => [
      name,
      required,
    ]);

  test('requires the country unless every row has one', () => {
    expect(
      required([
        { item_id: '1', country: 'sg' },
        { item_id: '2', country: '' },
      ]),
    ).toEqual([['country', true]]);
    expect(required([{ item_id: '1', country: 'sg' }])).toEqual([['country', false]]);
  });

  test('leaves fields of units to the file', () => {
    expect(sharedOfFile(shapeOf('mktd', 'pdp_bulk'), [])).toEqual([]);
    expect(sharedOfFile(shapeOf('mktd', 'pdp_bulk'), [{ product_id: '1', country: 'sg' }])).toEqual(
      [],
    );
  });

  test('asks for the choices that units of the file lack', () => {
    const shape = shapeOf('mktd', 'pdp_bulk');
    const fields = sharedOfFile(shape, [{ product_id: '1', country: 'sg' }, { product_id: '2' }]);
    expect(fields.map(({ name, required }) => [name, required])).toEqual([['country', true]]);
    expect(unitFills(shape, {})).toEqual({ country: '' });
    expect(unitFills(shape, { country: 'my' })).toEqual({ country: 'my' });
    expect(unitFills(shapeOf('mkta', 'variant_sold'), { country: 'my' })).toEqual({});
  });
});

test('expandRows() adds values of units, but not those of the request', () => {
  const rows = [{ product_id: '1' }, { product_id: '2' }];
  expect(expandRows(shapeOf('mktd', 'pdp_bulk'), { country: 'sg' }, rows)).toEqual([
    { product_id: '1', country: 'sg' },
    { product_id: '2', country: 'sg' },
  ]);
  expect(
    expandRows(shapeOf('mkta', 'variant_sold'), { country: 'sg' }, [{ item_id: '1' }]),
  ).toEqual([{ item_id: '1' }]);
});

test.each([
  ['country', true],
  ['items.3.item_id', true],
  ['items.3.country', true],
  ['items', false],
  ['items.3.colour', false],
  ['urls.0', false],
])('isFormField() of "%s" is %s', (path, expected) => {
  expect(isFormField(shapeOf('mkta', 'variant_sold'), path)).toBe(expected);
});

describe('pastedRows()', () => {
  const columns = ['item_id', 'shop_id'];

  test('fills columns from the one in which the text was pasted', () => {
    expect(pastedRows('1\t7\n2,8\r\n\n3;9', columns, 'item_id')).toEqual([
      { item_id: '1', shop_id: '7' },
      { item_id: '2', shop_id: '8' },
      { item_id: '3', shop_id: '9' },
    ]);
    expect(pastedRows('7\n8', columns, 'shop_id')).toEqual([{ shop_id: '7' }, { shop_id: '8' }]);
  });

  test('keeps separators in the last column', () => {
    expect(pastedRows('a,b\nc', ['keyword'], 'keyword')).toEqual([
      { keyword: 'a,b' },
      { keyword: 'c' },
    ]);
  });

  test('leaves a single line to the input', () => {
    expect(pastedRows('1\n', columns, 'item_id')).toBeNull();
  });
});
