import { expect, test } from 'vitest';
import type { TrackedValues } from '../base/tracked-values.ts';
import { anItemKey, aRule, aRun, someValues } from '../store/conformance/history-samples.ts';
import { itemEmail } from './message.ts';

const emailOf = (before: TrackedValues | null, after: TrackedValues) =>
  itemEmail({
    run: aRun(),
    item: anItemKey(),
    rules: [aRule()],
    before,
    after,
    changed: [],
    at: 0,
  }).text;

test.each<[string, Partial<TrackedValues> | null, string]>([
  ['a first reading', null, 'Price:  20 EUR\n'],
  ['the same price', {}, 'Price:  20 EUR\n'],
  ['another price', { price: 25 }, 'Price:  20 EUR, before 25 EUR\n'],
  ['the same number in another currency', { currency: 'USD' }, 'Price:  20 EUR, before 20 USD\n'],
  ['a price that was unknown', { price: null }, 'Price:  20 EUR, before unknown\n'],
])('itemEmail() shows the price before for %s', (_, before, line) => {
  const after = someValues({ price: 20 });
  expect(emailOf(before && { ...after, ...before }, after)).toContain(line);
});
