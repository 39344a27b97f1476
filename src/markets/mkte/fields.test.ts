import { expect, test } from 'vitest';
import type { JsonObject } from '../../base/json.ts';
import { tracked } from './fields.ts';

const record = (availability: string | null, amount: number | null): JsonObject => ({
  _asin: 'B0GLN01000',
  title: 'Mug',
  price: { amount, currency: 'EUR', original_price: null },
  availability,
});

test.each([
  ['In stock', 12.5, true],
  ['Currently unavailable', 12.5, false],
  ['Ask the cat about it', 12.5, null],
  [null, 12.5, true],
  [null, null, null],
])(
  'the text about stock %j and the price %j mean available: %j',
  (availability, amount, available) => {
    expect(tracked.product!(record(availability, amount))!.available).toBe(available);
  },
);
