import { expect, it } from 'vitest';
import type { JsonObject } from '../base/json.ts';
import { text } from './fields.ts';
import { fresh } from './fresh.ts';

const byId = (entry: JsonObject) => text(entry.id);

it('keeps each entry once, within a page and over pages', () => {
  const seen = new Set<string>();
  expect(fresh([{ id: 'a' }, { id: 'b' }, { id: 'a' }], seen, byId)).toEqual([{ id: 'a' }, { id: 'b' }]);
  expect(fresh([{ id: 'b' }, { id: 'c' }], seen, byId)).toEqual([{ id: 'c' }]);
});

it('knows entries without a name by what they hold', () => {
  const seen = new Set<string>();
  expect(fresh([{ name: 'x' }, { name: 'x' }, { name: 'y' }], seen, byId)).toHaveLength(2);
});
