import { expect, test } from 'vitest';
import type { Sample } from './manifest.ts';
import { Measures, replaceTable, tableOf } from './measure.ts';

const entry: Sample = {
  file: 'page.html',
  market: 'mkte',
  region: 'de',
  page: 'product',
  content_type: 'text/html',
  request: {},
  outcome: 'record',
  optional: false,
  expect: { title: 'Mug', 'price.amount': 12.5 },
  match: { 'images.0': '^https:', 'images.1': '^https:' },
  null: ['brand'],
};

test('addSample() counts each expectation as right, wrong, or missing', () => {
  const measures = new Measures();
  measures.addSample(entry, { result: 'held' });
  measures.addSample(entry, {
    result: 'missed',
    misses: [
      { path: 'price.amount', expected: '12.5', got: '1250' },
      { path: 'images.1', expected: '/^https:/', got: 'nothing' },
    ],
  });
  measures.addSample(entry, { result: 'skipped', why: 'older form' });
  const page = 'mkte product';
  expect(measures.list()).toEqual([
    { page, field: 'title', right: 2, wrong: 0, missing: 0 },
    { page, field: 'price.amount', right: 1, wrong: 1, missing: 0 },
    { page, field: 'images[]', right: 3, wrong: 0, missing: 1 },
    { page, field: 'brand', right: 2, wrong: 0, missing: 0 },
  ]);
});

test('addSample() counts a page that must be a fault as one value', () => {
  const measures = new Measures();
  const fault: Sample = { ...entry, outcome: 'fault', fault: 'blocked' };
  measures.addSample(fault, { result: 'held' });
  measures.addSample(fault, {
    result: 'missed',
    misses: [{ path: '', expected: 'fault', got: '{}' }],
  });
  expect(measures.list()).toEqual([
    { page: 'mkte product', field: 'fault', right: 1, wrong: 1, missing: 0 },
  ]);
});

test('addScores() counts a wrong value as wrong only', () => {
  const measures = new Measures();
  const none = { right: 0, false: 0, missing: 0 };
  const price = { right: 3, false: 1, missing: 2 };
  measures.addScores({
    pageCount: 5,
    scores: { price, availability: none, sku: none, brand: none, gtin: none },
    wrong: [
      { url: 'https://kiln.example/1', field: 'price', expected: ['9'], got: '7' },
      { url: 'https://kiln.example/2', field: 'price', expected: ['9'], got: null },
    ],
  });
  expect(measures.list()[0]).toEqual({
    page: 'shops product',
    field: 'price',
    right: 3,
    wrong: 1,
    missing: 1,
  });
});

test('the table has a row for each inexact field, and one for the others of a page', () => {
  const exact = { page: 'mkte product', right: 2, wrong: 0, missing: 0 };
  const table = tableOf([
    { ...exact, field: 'title' },
    { ...exact, field: 'price.amount', wrong: 1 },
    { ...exact, field: 'brand' },
  ]);
  expect(table.split('\n').slice(2)).toEqual([
    '| mkte product | `price.amount` | 2 | 1 | 0 |',
    '| mkte product | 2 fields | 4 | 0 | 0 |',
  ]);
  const page = `# Values\n\n${tableOf([])}\n| old | row | 1 | 1 | 1 |\n\nEnd.\n`;
  expect(replaceTable(page, table)).toBe(`# Values\n\n${table}\n\nEnd.\n`);
  expect(() => replaceTable('# Values\n', table)).toThrow('no table');
});
