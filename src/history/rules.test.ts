import { describe, expect, test } from 'vitest';
import type { TrackedValues } from '../base/tracked-values.ts';
import { aRule, someValues } from '../store/conformance/history-samples.ts';
import type { Rule, RuleState } from '../store/history.ts';
import { compare } from './compare.ts';
import { evaluate, isInScope } from './rules.ts';

/** Evaluates a rule for readings that follow each other, and returns which of them fire. */
function firings(rule: Rule, readings: readonly Partial<TrackedValues>[]): boolean[] {
  let before: TrackedValues | null = null;
  let state: RuleState | undefined;
  return readings.map((fields) => {
    const { values, changed } = compare(before, someValues(fields));
    const result = evaluate(rule, state, { before, after: values, changed });
    before = values;
    state = result.state ?? undefined;
    return result.fires;
  });
}

const prices = (...values: (number | null)[]) => values.map((price) => ({ price }));
const marks = (fired: readonly boolean[]) => fired.map((fires) => (fires ? '!' : '.')).join('');

describe('evaluate()', () => {
  test.each<[string, Partial<Rule>, Partial<TrackedValues>[], string]>([
    [
      'a fall in one step',
      { condition: 'price_falls_by', threshold: 5 },
      prices(100, 95, 95),
      '.!.',
    ],
    [
      'a fall in small steps',
      { condition: 'price_falls_by', threshold: 5 },
      prices(100, 98, 96, 94, 93),
      '...!.',
    ],
    [
      'a price that flaps',
      { condition: 'price_falls_by', threshold: 5 },
      prices(100, 94, 96, 94, 96, 94),
      '.!....',
    ],
    [
      'a fall after a rise',
      { condition: 'price_falls_by', threshold: 5 },
      prices(100, 94, 110, 104),
      '.!.!',
    ],
    [
      'an unknown price',
      { condition: 'price_falls_by', threshold: 5 },
      prices(null, 100, null, 90),
      '...!',
    ],
    [
      'a rise',
      { condition: 'price_rises_by', threshold: 10 },
      prices(100, 109, 110, 111, 121),
      '..!.!',
    ],
    [
      'a fall of the exact percentage',
      { condition: 'price_falls_by', threshold: 10 },
      prices(0.3, 0.27, 0.2431, 0.243, 19.9, 17.91, 2e21, 1.8e21, 1e-7, 9e-8),
      '.!.!.!.!!!',
    ],
    [
      'a rise of the exact percentage',
      { condition: 'price_rises_by', threshold: 15 },
      prices(1.4, 1.61, 1.8514, 1.8515),
      '.!.!',
    ],
    [
      'a limit below',
      { condition: 'price_below', threshold: 10 },
      prices(9, 8, 10, 9.99, 9),
      '!..!.',
    ],
    [
      'a limit above',
      { condition: 'price_above', threshold: 10 },
      prices(10, 11, 12, null, 9, 11),
      '.!...!',
    ],
  ])('fires for %s once', (_, fields, readings, expected) => {
    expect(marks(firings(aRule({ field: '', ...fields }), readings))).toBe(expected);
  });

  test.each<[Partial<Rule>, Partial<TrackedValues>[], string]>([
    [
      { condition: 'out_of_stock' },
      [{ available: true }, { available: false }, { available: false }],
      '.!.',
    ],
    [{ condition: 'out_of_stock' }, [{ available: false }, { available: null }], '..'],
    [
      { condition: 'back_in_stock' },
      [{ available: true }, { available: false }, { available: true }],
      '..!',
    ],
    [{ condition: 'back_in_stock' }, [{ available: null }, { available: true }], '..'],
    [
      { condition: 'changes', field: 'title' },
      [{ title: 'a' }, { title: 'a' }, { title: 'b' }],
      '..!',
    ],
    [
      { condition: 'changes', field: 'rating' },
      [{ rating: null }, { rating: 4 }, { rating: 4.5 }],
      '.!!',
    ],
    [{ condition: 'changes', field: 'title' }, prices(1, 2), '..'],
  ])('%j fires for a change only', (fields, readings, expected) => {
    expect(marks(firings(aRule({ threshold: null, field: '', ...fields }), readings))).toBe(
      expected,
    );
  });

  test('discards the state of an earlier revision of the rule', () => {
    const rule = aRule({ condition: 'price_below', threshold: 10, revision: 2 });
    const input = { before: null, after: someValues({ price: 9 }), changed: [] };
    const state = { revision: 1, isTrue: true, reference: null, currency: null };
    expect(evaluate(rule, state, input).fires).toBe(true);
    expect(evaluate(rule, { ...state, revision: 2 }, input).fires).toBe(false);
  });
});

describe('isInScope()', () => {
  const item = { userId: 'u', market: 'mkta', region: 'id', key: '7' };
  test.each<[Partial<Rule>, boolean]>([
    [{}, true],
    [{ market: 'mkta', region: 'id', key: '7', series: 'daily' }, true],
    [{ market: 'mktb' }, false],
    [{ region: 'sg' }, false],
    [{ key: '8' }, false],
    [{ series: 'weekly' }, false],
    [{ enabled: false }, false],
  ])('%j', (fields, expected) => {
    expect(isInScope(aRule(fields), item, 'daily')).toBe(expected);
  });
});

describe('evaluate() with prices of several currencies', () => {
  const usd = (price: number | null) => ({ price, currency: 'USD' });
  const eur = (price: number | null) => ({ price, currency: 'EUR' });

  test.each<[string, Partial<Rule>, Partial<TrackedValues>[], string]>([
    [
      'a fall',
      { condition: 'price_falls_by', threshold: 5 },
      [usd(20), eur(18), eur(18), eur(17)],
      '...!',
    ],
    [
      'a rise',
      { condition: 'price_rises_by', threshold: 5 },
      [usd(20), eur(30), eur(31), eur(32)],
      '...!',
    ],
    [
      'a limit',
      { condition: 'price_below', threshold: 19 },
      [usd(20), eur(18), eur(18), eur(20), eur(17)],
      '....!',
    ],
    [
      'a limit and back',
      { condition: 'price_below', threshold: 19 },
      [eur(20), eur(18), usd(20), eur(18)],
      '.!..',
    ],
    [
      'one that was unknown',
      { condition: 'price_below', threshold: 19 },
      [{ price: 20, currency: null }, eur(18)],
      '.!',
    ],
  ])('%s starts over', (_, fields, readings, expected) => {
    expect(marks(firings(aRule(fields), readings))).toBe(expected);
  });

  test('a new rule does not compare with a price of another currency', () => {
    const [before, after] = [someValues(usd(20)), someValues(eur(18))];
    const input = { before, after, changed: ['price', 'currency'] as const };
    expect(
      evaluate(aRule({ condition: 'price_below', threshold: 19 }), undefined, input).fires,
    ).toBe(false);
    expect(evaluate(aRule({ condition: 'price_falls_by' }), undefined, input).fires).toBe(false);
  });
});

describe('compare()', () => {
  test('takes variants for a set', () => {
    const variant = (id: string, price: number) => ({ id, name: null, price, stock: null });
    const last = someValues({ variants: [variant('a', 1), variant('b', 2)] });
    const changed = (...variants: ReturnType<typeof variant>[]) =>
      compare(last, someValues({ variants })).changed;
    expect(changed(variant('b', 2), variant('a', 1))).toEqual([]);
    expect(changed(variant('b', 1), variant('a', 2))).toEqual(['variants']);
    expect(changed(variant('a', 1), variant('a', 1))).toEqual(['variants']);
  });

  test('keeps the last value of a field that a reading omits', () => {
    const last = someValues();
    const difference = compare(last, someValues({ stock: null, price: 10, variants: null }));
    expect(difference).toEqual({
      values: { ...last, price: 10 },
      changed: ['price'],
      before: { price: 12.5, currency: last.currency },
      after: { price: 10, currency: last.currency },
    });
    expect(compare(last, someValues()).changed).toEqual([]);
  });

  test('keeps the currency of a price that a reading omits', () => {
    const last = someValues({ price: 20, currency: 'EUR' });
    const soldOut = someValues({ price: null, currency: 'USD', available: false });
    const { values, changed } = compare(last, soldOut);
    expect(values).toMatchObject({ price: 20, currency: 'EUR' });
    expect(changed).not.toContain('currency');
    const unpriced = someValues({ price: null, currency: null });
    expect(compare(unpriced, soldOut).values).toMatchObject({ price: null, currency: 'USD' });
  });

  test('reports all stated values of a first reading', () => {
    const { changed, before } = compare(null, someValues({ rating: null, sold: null }));
    expect(changed).toEqual(['title', 'price', 'currency', 'stock', 'available', 'variants']);
    expect(before).toEqual({});
  });
});
