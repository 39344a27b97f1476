import { expect, test } from 'vitest';
import { type RecordView, readView, writeView } from './record-queries.ts';

test('writeView() keeps other parameters, and readView() returns the same view', () => {
  const parameters = new URLSearchParams('tab=results&filter=a%3D1&sort=-x&status=FAILED');
  const view: RecordView = {
    layout: 'cards',
    search: 'green lamp',
    conditions: ['item.price>=10', 'item.title~a,b'],
    status: 'SUCCESS',
    sort: '',
    fields: ['brand', 'price.amount'],
  };
  writeView(parameters, view);
  expect(parameters.get('tab')).toBe('results');
  expect(parameters.has('sort')).toBe(false);
  expect(readView(parameters)).toEqual(view);
});

test('readView() ignores an unknown status', () => {
  expect(readView(new URLSearchParams('status=odd')).status).toBe('');
});
