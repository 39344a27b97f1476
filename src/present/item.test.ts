import { create } from '@bufbuild/protobuf';
import { expect, test } from 'vitest';
import { FieldChangeSchema } from '../../gen/gleaner/history/v1/history_pb.ts';
import { changesText, changeText, formatPrice, formatRating } from './item.ts';

test.each([
  [1915.3, 'EUR', '€1,915.30'],
  [250000, 'IDR', 'IDR 250,000'],
  [1915.3, 'credits!', '1,915.3 credits!'],
  [1915.3, '', '1,915.3'],
  [0.0045, 'USD', '$0.0045'],
  [12.345, 'EUR', '€12.345'],
  [12.5, 'JPY', '¥12.5'],
  [0.0045, '', '0.0045'],
])('formatPrice(%j, %j) is "%s"', (price, currency, expected) => {
  expect(formatPrice(price, currency).replaceAll('\u00a0', ' ')).toBe(expected);
});

test.each([
  [5, '5.0'],
  [4.9, '4.9'],
  [4.35, '4.35'],
  [4.9987, '4.99'],
])('formatRating(%d) is "%s"', (rating, expected) => {
  expect(formatRating(rating)).toBe(expected);
});

test.each([
  [{ field: 'price', before: '12', after: '10.5' }, 'Price: €12.00 → €10.50'],
  [
    { field: 'available', before: 'true', after: 'false' },
    'Availability: available → not available',
  ],
  [{ field: 'rating', before: '4.8333', after: '4.8334' }, 'Rating: 4.8333 → 4.8334'],
  [{ field: 'stock', after: '1200' }, 'Stock: unknown → 1,200'],
  [{ field: 'title', before: '"Bell"', after: '"Bell, red"' }, 'Title: Bell → Bell, red'],
  [{ field: 'variants', before: '[]', after: '[{}]' }, 'Variants'],
])('changeText(%j) is "%s"', (change, expected) => {
  expect(changeText(create(FieldChangeSchema, change), { before: 'EUR', after: 'EUR' })).toBe(
    expected,
  );
});

test('changesText() shows each price in its own currency', () => {
  const price = create(FieldChangeSchema, { field: 'price', before: '20', after: '18' });
  const currency = create(FieldChangeSchema, {
    field: 'currency',
    before: '"USD"',
    after: '"EUR"',
  });
  const text = changesText({ fields: [price, currency], currency: 'EUR' });
  expect(text).toBe('Price: $20.00 → €18.00, Currency: USD → EUR');
  expect(changesText({ fields: [price], currency: 'EUR' })).toBe('Price: €20.00 → €18.00');
});
