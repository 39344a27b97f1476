import { expect, test } from 'vitest';
import { direct } from '../../../sandbox/in-process-origin.ts';
import { mkta as origin } from '../../../sandbox/mkta/index.ts';
import { product } from './product.ts';

const at = Date.UTC(2030, 0, 1);

test.each([
  [20101, true, 'as it is'],
  [20701, true, 'sold out'],
  [20704, true, 'masked for everyone'],
  [20706, true, 'without stock'],
  [20707, true, 'of an older generation'],
  [20702, false, 'without its price for a visitor without a login'],
  [20703, false, 'without most of its parts'],
])('isComplete() for the page of item %d is %s: %s', async (id, whole) => {
  const { fetch } = direct(origin, 'sg', at);
  const record = await product.read({ item_id: `${id}`, shop_id: '7' }, { region: 'sg', fetch });
  expect(product.isComplete!(record)).toBe(whole);
});
