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

test('the key of an item cannot start a line of itemEmail(), nor reverse one', () => {
  const { subject, text } = itemEmail({
    run: aRun(),
    item: { ...anItemKey(), key: 'a\nPrice:  1 EUR\u202e' },
    rules: [{ ...aRule(), name: 'Cheap\u2067' }],
    before: null,
    after: someValues({ price: 20, title: null }),
    changed: [],
    at: 0,
  });
  expect(subject).toBe('Cheap: a Price:  1 EUR');
  expect(text).not.toMatch(/^Price: {2}1 EUR/m);
  expect(text).not.toMatch(/[\u202e\u2067]/);
});
