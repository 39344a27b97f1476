import { expect, test } from 'vitest';
import { describeCost } from './cost.ts';

test.each([
  [
    { units: 3, unitPrice: 10, balance: 1_000 },
    '30 credits (10 credits per unit). Balance after: 970.',
    false,
  ],
  [{ units: 1, unitPrice: 1, balance: 1 }, '1 credit (1 credit per unit). Balance after: 0.', false],
  [
    { units: 3, unitPrice: 10, balance: 25 },
    '30 credits (10 credits per unit). 5 more than your balance.',
    true,
  ],
  [{ units: null, unitPrice: 8, balance: 7 }, '8 credits per unit. Balance: 7.', true],
  [{ units: 0, unitPrice: 8, balance: 8 }, '8 credits per unit. Balance: 8.', false],
])('describeCost(%j) is "%s"', (input, text, isShort) => {
  expect(describeCost(input)).toEqual({ text, isShort });
});
