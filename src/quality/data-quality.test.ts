import { expect, test } from 'vitest';
import {
  countRecords,
  createQualityCounter,
  holdOf,
  parseHold,
  problemsOfHold,
  sumQualityCounts,
} from './data-quality.ts';
import type { RecordFields } from './record-schema.ts';

const listed: RecordFields = {
  title: 'string',
  price: 'number?',
  'models[].stock': 'integer',
  'seller.name': 'string?',
};
const bytes = (...records: object[]) =>
  records.map((record) => Buffer.from(JSON.stringify(record)));
const complete = { title: 'a', price: 1, models: [{ stock: 0 }], seller: { name: 'x' } };

test('counts the values of each field, records without a place for it, and records of a wrong type', () => {
  const records = bytes(
    complete,
    { ...complete, price: null },
    { ...complete, title: '', models: [] },
    { ...complete, price: '1', models: [{ stock: null }, { stock: 3 }] },
    { title: 'a', price: 2, models: [{ stock: 1 }] },
  );
  const quality = sumQualityCounts(listed, [countRecords(listed, records)]);
  expect(quality).toEqual({
    records: 5,
    // A price that is text, a stock that is null, and no seller.
    invalid: 2,
    fields: [
      { name: 'title', type: 'string', records: 5, filled: 4, percent: 80 },
      { name: 'price', type: 'number?', records: 5, filled: 3, percent: 60 },
      { name: 'models[].stock', type: 'integer', records: 4, filled: 4, percent: 100 },
      { name: 'seller.name', type: 'string?', records: 5, filled: 4, percent: 80 },
    ],
  });
});

test('sums counts, and skips counts with other listed fields', () => {
  const counts = countRecords(listed, bytes(complete));
  const other = countRecords({ title: 'string' }, bytes(complete));
  expect(sumQualityCounts(listed, [counts, other, counts])).toMatchObject({
    records: 2,
    invalid: 0,
  });
  expect(sumQualityCounts(listed, []).fields[0]).toMatchObject({
    records: 0,
    filled: 0,
    percent: 0,
  });
  expect(createQualityCounter(listed).counts()).toMatchObject({ records: 0, shape: counts.shape });
});

test('a hold names the fields below their minimum', () => {
  const quality = sumQualityCounts(listed, [
    countRecords(listed, bytes(complete, { ...complete, price: null })),
  ]);
  const rules = parseHold('price:50.5,title:100,models[].stock:100');
  expect(holdOf(rules, quality, 7)).toEqual({
    state: 'held',
    reasons: [{ field: 'price', minimum: 50.5, percent: 50 }],
    heldAt: 7,
    decidedAt: null,
  });
  expect(holdOf(parseHold('price:50'), quality, 7)).toBeNull();
  expect(holdOf([], quality, 7)).toBeNull();
});

test('a hold may name listed fields only, with a minimum of up to 100 percent', () => {
  expect(problemsOfHold(parseHold('price:95,seller.name:1'), listed)).toEqual([]);
  expect(problemsOfHold(parseHold('cost:95,price:101'), listed)).toEqual([
    "'cost' is not a field of the records. Use title, price, models[].stock, seller.name",
    "'price': the minimum 101 is more than 100 percent",
  ]);
});
