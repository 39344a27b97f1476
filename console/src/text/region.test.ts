import { expect, test } from 'vitest';
import { offers } from '../offers/offers.ts';
import { readRequestShape } from '../submit/fields.ts';
import { regionText } from './region.ts';

test.each([
  ['id', 'Indonesia (id)'],
  ['uk', 'United Kingdom (uk)'],
])('regionText(%s) is "%s"', (region, expected) => {
  expect(regionText(region)).toBe(expected);
});

test('regionText() knows every region of the contract', () => {
  const fields = offers.flatMap(({ method }) => {
    const { fields, list } = readRequestShape(method.input);
    return [...fields, ...(list?.fields ?? [])].filter(({ name }) => name === 'country' || name === 'region');
  });
  for (const region of fields.flatMap(({ choices }) => choices)) {
    expect(regionText(region)).toMatch(/^[A-Z][a-z]+.* \([a-z]{2}\)$/);
  }
});
