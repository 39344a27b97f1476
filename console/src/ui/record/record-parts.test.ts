import { expect, test } from 'vitest';
import { availabilityOf, partsOf, sellerOf } from './record-parts.ts';

test('partsOf() groups values, and makes a table of each list of objects', () => {
  const record = {
    title: 'Lamp',
    tags: ['a', 'b'],
    price: { amount: 5, currency: 'EUR', range: { low: null } },
    variants: [
      { id: 1, price: { amount: 5 }, note: null },
      { id: 2, price: { amount: 6 }, note: null },
    ],
  };
  expect(partsOf(record)).toEqual({
    groups: [
      {
        name: '',
        values: [
          { name: 'title', text: 'Lamp' },
          { name: 'tags', text: 'a, b' },
        ],
      },
      {
        name: 'price',
        values: [
          { name: 'amount', text: '5' },
          { name: 'currency', text: 'EUR' },
          { name: 'range.low', text: '' },
        ],
      },
    ],
    tables: [
      {
        name: 'variants',
        columns: ['id', 'price.amount'],
        rows: [
          ['1', '5'],
          ['2', '6'],
        ],
        total: 2,
      },
    ],
  });
  expect(partsOf(null)).toEqual({ groups: [], tables: [] });
});

test.each([
  [{ shop: { name: 'Lamps Ltd' } }, 'Lamps Ltd'],
  [{ seller_name: 'Lamps Ltd' }, 'Lamps Ltd'],
  [{ title: 'Lamp', seller_model: { shop_name: 'Lamps Ltd' } }, 'Lamps Ltd'],
  [{ seller: null, store: 'a', shop: 7 }, 'a'],
  [{ seller: null }, ''],
  [null, ''],
])('sellerOf(%j) is "%s"', (record, seller) => {
  expect(sellerOf(record)).toBe(seller);
});

test.each([
  [{ availability: 'In Stock' }, 'In Stock'],
  [{ availability: 'out_of_stock' }, 'out of stock'],
  [{ availability: null }, ''],
  [[], ''],
])('availabilityOf(%j) is "%s"', (record, availability) => {
  expect(availabilityOf(record)).toBe(availability);
});
