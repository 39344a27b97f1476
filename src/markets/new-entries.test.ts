import { expect, it } from 'vitest';
import type { JsonObject } from '../base/json.ts';
import { text } from './fields.ts';
import { checkNoEntries, newEntries, withTitleOrPrice } from './new-entries.ts';

const byId = (entry: JsonObject) => text(entry.id);

it('keeps each entry once, within a page and across pages', () => {
  const seen = new Set<string>();
  expect(newEntries([{ id: 'a' }, { id: 'b' }, { id: 'a' }], seen, byId)).toEqual([
    { id: 'a' },
    { id: 'b' },
  ]);
  expect(newEntries([{ id: 'b' }, { id: 'c' }], seen, byId)).toEqual([{ id: 'c' }]);
});

it('leaves out entries without an id, unless no entry has one', () => {
  const seen = new Set<string>();
  expect(newEntries([{ name: 'x' }, { id: 'a' }, { id: '' }], seen, byId)).toEqual([{ id: 'a' }]);
  expect(newEntries([], seen, byId)).toEqual([]);
  expect(() => newEntries([{ name: 'x' }, { id: '' }], seen, byId)).toThrow(
    expect.objectContaining({ code: 'page_unreadable' }),
  );
});

it('withTitleOrPrice() leaves out entries without both, unless no entry has one', () => {
  const [titled, priced] = [{ title: 'Mug' }, { title: ' ', price: 5 }];
  expect(withTitleOrPrice([titled, { title: null, price: null }, priced])).toEqual([
    titled,
    priced,
  ]);
  expect(withTitleOrPrice([])).toEqual([]);
  expect(() => withTitleOrPrice([{ title: null }, { price: ' ' }], ': look')).toThrow(
    'none of the 2 entries of the list has a title or a price: look',
  );
});

it('checkNoEntries() rejects a page that states products without listing them', () => {
  for (const total of [null, 0]) expect(() => checkNoEntries(total)).not.toThrow();
  expect(() => checkNoEntries(7)).toThrow(
    expect.objectContaining({
      code: 'page_unreadable',
      message: 'the site states 7 products and lists none',
    }),
  );
});
