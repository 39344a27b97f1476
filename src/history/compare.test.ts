import { expect, test } from 'vitest';
import { someValues } from '../store/conformance/history-samples.ts';
import { compare } from './compare.ts';

const variant = (id: string | null, price: number | null) => ({
  id,
  name: 'Large',
  price,
  stock: null,
});

test('compare() keeps the last price of a variant whose page states none', () => {
  const last = someValues({ variants: [variant('1', 5), variant('2', 7)] });
  const hidden = compare(last, someValues({ variants: [variant('2', null), variant('1', null)] }));
  expect(hidden.changed).toEqual([]);
  const partly = compare(last, someValues({ variants: [variant('1', null), variant('2', 8)] }));
  expect(partly).toMatchObject({
    changed: ['variants'],
    values: { variants: [variant('1', 5), variant('2', 8)] },
  });
});

test('compare() takes no price from another variant without an id', () => {
  const last = someValues({ variants: [variant(null, 5)] });
  const { changed } = compare(last, someValues({ variants: [variant(null, null)] }));
  expect(changed).toEqual(['variants']);
});
