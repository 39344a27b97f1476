import { describe, expect, test } from 'vitest';
import { type Candidate, resolve } from './candidates.ts';

const candidate = (members: Partial<Candidate>): Candidate => ({
  field: 'price',
  value: null,
  alternatives: [],
  text: null,
  rung: 'structured',
  source: 'json-ld',
  path: '',
  offer: null,
  currency: null,
  isMarked: false,
  ...members,
});
const stated = (value: Candidate['value'], source = 'json-ld') => candidate({ value, source });
const seen = (value: Candidate['value'], source: string) =>
  candidate({ value, rung: 'page', source });
const marked = (value: number) =>
  candidate({ value, rung: 'page', source: 'control', isMarked: true });

describe('resolve()', () => {
  test('takes a value that structured data alone states', () => {
    expect(resolve('price', [stated(9)])).toMatchObject({
      value: 9,
      from: 'json-ld',
      contradictions: [],
    });
  });

  test('takes none of two formats that disagree, and reports both', () => {
    const formats = [stated(9), stated(7, 'opengraph')];
    expect(resolve('price', formats)).toMatchObject({ value: null, contradictions: formats });
  });

  test('takes the format that the page agrees with', () => {
    const { value, from, contradictions } = resolve('price', [
      stated(9),
      stated(7, 'opengraph'),
      marked(7),
    ]);
    expect([value, from]).toEqual([7, 'opengraph']);
    expect(contradictions).toHaveLength(2);
  });

  test('takes the only value that the page marks instead of another one of structured data', () => {
    expect(resolve('price', [stated(9), marked(11)])).toMatchObject({
      value: 11,
      from: 'page: control',
    });
  });

  test('takes none if two sources of the page agree on another value, and reports all', () => {
    const contrary = [stated(9), seen(11, 'heading'), seen(11, 'control')];
    expect(resolve('price', contrary)).toMatchObject({ value: null, contradictions: contrary });
    const states = contrary.map((one) =>
      one.rung === 'page' ? { ...one, rung: 'state' as const } : one,
    );
    expect(resolve('price', states)).toMatchObject({ value: 9, contradictions: [] });
    expect(resolve('price', contrary.slice(0, 2))).toMatchObject({ value: 9, contradictions: [] });
  });

  test('takes the number after a label instead of an id that two other sources have', () => {
    const label = { ...seen('M-1', 'label'), isMarked: true };
    const labels = [label, { ...label, source: 'only label' }];
    const ids = [seen('4711', 'data-id'), seen('4711', 'address')];
    expect(resolve('sku', [...ids, ...labels])).toMatchObject({ value: 'M-1' });
    const unmarked = labels.map((one) => ({ ...one, isMarked: false }));
    expect(resolve('sku', [...ids, ...unmarked])).toMatchObject({ value: null });
  });

  test('takes none if the page shows prices, but not that one', () => {
    const shown = [seen(11, 'shown'), seen(12, 'shown')];
    expect(resolve('price', [stated(9), ...shown])).toMatchObject({ value: null });
    expect(resolve('price', [stated(11), ...shown])).toMatchObject({
      value: 11,
      contradictions: [],
    });
    const offers = candidate({ value: 9, alternatives: [9, 12] });
    expect(resolve('price', [offers, ...shown])).toMatchObject({ value: 9, contradictions: [] });
  });

  test('takes the offer that the page shows, without a contradiction', () => {
    const offers = candidate({ value: 9, alternatives: [9, 11] });
    expect(resolve('price', [offers, marked(11)])).toMatchObject({ value: 11, contradictions: [] });
  });

  test('decides between two readings of a price by the page', () => {
    const unclear = candidate({ alternatives: [12.5, 12_500] });
    expect(resolve('price', [unclear])).toMatchObject({ value: null });
    expect(resolve('price', [unclear, marked(12_500)])).toMatchObject({ value: 12_500 });
  });

  test.each([
    ['one source', [seen(9, 'heading')], null],
    ['one source twice', [seen(9, 'heading'), seen(9, 'heading')], null],
    ['two sources that agree', [seen(9, 'heading'), seen(9, 'control')], 9],
    ['two sources that disagree', [seen(9, 'heading'), seen(7, 'control')], null],
    [
      'two pairs of sources',
      [...[9, 7].flatMap((value) => [seen(value, 'a'), seen(value, 'b')])],
      null,
    ],
    ['prices anywhere on the page', [seen(9, 'control'), seen(9, 'shown')], null],
  ])('below structured data, %s', (_name, candidates, value) => {
    expect(resolve('price', candidates).value).toBe(value);
  });

  test('compares availability by whether the product can be bought', () => {
    const states = [stated('InStock'), stated('LimitedAvailability', 'microdata')].map((one) => ({
      ...one,
      field: 'availability',
    }));
    expect(resolve('availability', states)).toMatchObject({ value: 'InStock', contradictions: [] });
    const contrary = [...states, { ...stated('SoldOut', 'rdfa'), field: 'availability' }];
    expect(resolve('availability', contrary).value).toBeNull();
  });

  test('takes texts of the first format that has one', () => {
    expect(resolve('brand', [stated('Kiln'), stated('KILN', 'opengraph')]).value).toBe('Kiln');
  });
});
