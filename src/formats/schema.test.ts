import { Ajv2020 } from 'ajv/dist/2020.js';
import { describe, expect, test } from 'vitest';
import type { RecordFields } from '../quality/record-schema.ts';
import { topColumn } from './columns.ts';
import { rowSchema } from './schema.ts';

const listed: RecordFields = {
  title: 'string',
  'price.amount': 'number?',
  images: 'array',
  'images[]': 'string',
  models: 'array?',
  'models[].id': 'integer',
  'shops.*.name': 'string',
  status: 'any',
};
const schema = rowSchema(
  { id: '/v1/schemas/x/y', title: 'Row' },
  [topColumn('unit_index', 'integer')],
  listed,
);
const row = {
  unit_index: 0,
  title: 'lamp',
  price: { amount: null, note: 'new' },
  images: ['a'],
  models: [{ id: 1 }],
  shops: { a: { name: 'x' } },
  status: null,
};

describe('rowSchema()', () => {
  const validate = new Ajv2020({ strict: true, allowUnionTypes: true }).compile(schema);

  test('accepts a record with its listed fields and others', () => {
    expect(validate({ ...row, more: 1 })).toBe(true);
    expect(validate({ ...row, models: null })).toBe(true);
  });

  test.each([
    ['a missing field', { ...row, title: undefined }],
    ['a missing member', { ...row, price: {} }],
    ['null for a field that is never null', { ...row, title: null }],
    ['another type', { ...row, images: [1] }],
    ['another type in a list', { ...row, models: [{ id: '1' }] }],
    ['another type under any name', { ...row, shops: { a: { name: 1 } } }],
  ])('rejects %s', (_title, value) => {
    expect(validate(JSON.parse(JSON.stringify(value)))).toBe(false);
  });
});
