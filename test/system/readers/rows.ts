import { createColumns, othersColumn, topColumn } from '../../../src/formats/columns.ts';
import type { ExactObject } from '../../../src/formats/json-text.ts';
import { findPythonPackages } from '../clients/tools.ts';

/** Columns of the adversarial rows. */
export const columns = [
  topColumn('unit_index', 'integer'),
  ...createColumns({
    title: 'string?',
    'price.amount': 'number?',
    'price.currency': 'string?',
    sold: 'integer?',
    available: 'boolean?',
    images: 'array',
    'images[]': 'string',
    models: 'array',
    'models[].price': 'number?',
    seller: 'object?',
    status: 'any',
    counts: 'array',
    'counts[]': 'integer',
    seen_at: 'timestamp?',
  }),
  othersColumn,
];

/** Returns a value nested this deep. */
export function nested(depth: number): ExactObject {
  let value: ExactObject = { end: true };
  for (let at = 0; at < depth; at++) value = { in: [value] };
  return value;
}

/** Rows that break careless writers. Each is one case. */
export const adversarial: readonly ExactObject[] = [
  {
    unit_index: 0,
    title: '=HYPERLINK("http://evil.example";"x")',
    price: { amount: -1.5, currency: '+1' },
  },
  { unit_index: 1, title: '@SUM(1)', price: { amount: 0, currency: '-x' }, sold: -3 },
  { unit_index: 2, title: '\t=1', price: { amount: 1e21, currency: '\r\n=1' } },
  { unit_index: 3, title: 'a,"b"\r\nc\nd', price: { amount: 0.1, currency: '' }, available: true },
  {
    unit_index: 4,
    title: 'emoji 🚲 \u2028 ラ',
    price: null,
    images: ['https://x/1.jpg', '=2'],
    available: false,
  },
  { unit_index: 5, title: 'lone \ud800 surrogate', sold: 9007199254740993n },
  {
    unit_index: 6,
    title: 'big',
    sold: 99999999999999999999999n,
    price: { amount: 9007199254740993n },
  },
  { unit_index: 7, title: null, price: { amount: null, currency: null }, images: [], models: [] },
  { unit_index: 8 },
  { unit_index: 9, title: 12, sold: '12', price: 'free', extra: { 'a.b': 1 }, __proto__: null },
  {
    unit_index: 10,
    title: '',
    models: [{ price: 1 }],
    seller: { name: 'x' },
    status: 'on',
    more: ['y'],
  },
  { unit_index: 11, title: 'deep', status: nested(200), sold: 1.5 },
  JSON.parse(
    '{"unit_index": 12, "title": "proto", "__proto__": {"polluted": true}}',
  ) as ExactObject,
  { unit_index: 13, title: '\u0000nul', price: { amount: 12, currency: 'EUR', note: '=1' } },
  { unit_index: 14, images: ['a', null, ''], counts: [1, -2], seen_at: '2030-01-07T04:00:00.250Z' },
  { unit_index: 15, images: ['a', 2], counts: ['1'], seen_at: 'soon' },
];

/** Yields rows, one by one. */
export async function* stream(rows: Iterable<ExactObject>): AsyncGenerator<ExactObject> {
  yield* rows;
}

const readerPackages = [
  'duckdb==2.0.0',
  'pandas==3.1.1',
  'pyarrow==26.0.1',
  'openpyxl==3.1.5',
  'xlsxwriter==3.3.1',
];

/** Returns the folder of the readers of tables, Python packages, or why they are unavailable. */
export const findTableReaders = () => findPythonPackages('table-readers-2', readerPackages);
