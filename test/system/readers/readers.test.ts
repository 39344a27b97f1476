import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { plainJson, plainText } from '../../../src/base/csv.ts';
import { cellReader } from '../../../src/formats/cells.ts';
import { createFormat } from '../../../src/formats/format.ts';
import type { ExactObject } from '../../../src/formats/json-text.ts';
import { findEngine } from '../../engines/missing.ts';
import { root } from '../../support/service/service.ts';
import { run } from '../clients/tools.ts';
import { adversarial, columns, findTableReaders, stream } from './rows.ts';

const python = await findEngine(findTableReaders());
const timeoutMs = 240_000;

/**
 * Rows that every reader of JSON accepts. Lone surrogates, integers beyond 64 bits, and values
 * nested deeper than 128 levels are valid JSON, but some readers refuse them.
 */
const readable = adversarial.filter(
  ({ unit_index: index }) => ![5, 6, 11].includes(index as number),
);
/** More rows than a row group has. */
const more: ExactObject[] = Array.from({ length: 5_000 }, (_, at) => ({
  unit_index: 100 + at,
  title: `lamp ${at}`,
  price: { amount: at / 8 },
}));

interface Seen {
  duckdb: Record<'parquet' | 'types' | 'csv' | 'jsonl' | 'model' | 'lists', unknown[][]>;
  pandas: { parquet: unknown[][]; csv: string[][]; jsonl: number };
  /** Cells that the module `csv` of Python reads. */
  csv: string[][];
  spreadsheet: { rows: number; formulas: string[] };
}
let folder: string;
let seen: Seen;

describe.skipIf('missing' in python)('tables with adversarial records', () => {
  beforeAll(async () => {
    if ('missing' in python) return;
    folder = await mkdtemp(join(tmpdir(), 'gleaner-tables-'));
    for (const format of ['csv', 'parquet'] as const)
      await writeFile(
        join(folder, `table.${format}`),
        createFormat(format, columns)(stream([...adversarial, ...more])),
      );
    await writeFile(
      join(folder, 'table.jsonl'),
      createFormat('jsonl', columns)(stream([...readable, ...more])),
    );
    const env = { PYTHONPATH: python.folder, PYTHONDONTWRITEBYTECODE: '1' };
    const script = join(root, 'test/system/readers/read_tables.py');
    const { stdout } = await run('python3', [script, folder], { cwd: folder, env });
    seen = JSON.parse(stdout) as Seen;
  }, timeoutMs);
  afterAll(() => folder && rm(folder, { recursive: true, force: true }));

  const cells = [...adversarial, ...more].map(cellReader(columns));
  /** Cells of some columns, as JSON has them: without bigints and lone surrogates. */
  const expected = (...names: string[]) =>
    cells.map((row) =>
      names.map((name) => {
        const cell = row[columns.findIndex((column) => column.name === name)]!;
        if (typeof cell === 'bigint') return Number(cell);
        if (name === 'images' && cell !== null) return JSON.parse(String(cell));
        return typeof cell === 'string' ? cell.toWellFormed() : cell;
      }),
    );

  test('DuckDB reads Parquet with types and every value', () => {
    expect(seen.duckdb.parquet).toEqual(
      expected(
        'unit_index',
        'title',
        'price.amount',
        'sold',
        'available',
        'images',
        'other_fields',
      ),
    );
    expect(Object.fromEntries(seen.duckdb.types as [string, string][])).toEqual({
      unit_index: 'BIGINT',
      title: 'VARCHAR',
      'price.amount': 'DOUBLE',
      'price.currency': 'VARCHAR',
      sold: 'BIGINT',
      available: 'BOOLEAN',
      images: 'VARCHAR[]',
      models: 'VARCHAR',
      seller: 'VARCHAR',
      status: 'VARCHAR',
      counts: 'BIGINT[]',
      seen_at: 'TIMESTAMP WITH TIME ZONE',
      other_fields: 'VARCHAR',
    });
    expect(seen.duckdb.model).toEqual([['1']]);
    const others = JSON.stringify({ images: ['a', 2], counts: ['1'], seen_at: 'soon' });
    expect(seen.duckdb.lists).toEqual([
      [14, [1, -2], 1_893_988_800_250, null],
      [15, null, null, others],
    ]);
  });

  test('DuckDB reads CSV and JSON Lines, and Python reads CSV', () => {
    const rows = expected('unit_index', 'title', 'price.currency', 'other_fields');
    const escaped = rows.map((row) =>
      row.map((cell, at) => {
        if (typeof cell !== 'string') return cell === null ? null : String(cell);
        // The last column is JSON, whose values stay as they are.
        return at === 3 ? plainJson(cell) : plainText(cell);
      }),
    );
    expect(seen.duckdb.csv).toEqual(escaped);
    // Python's reader does not tell null from the empty string.
    expect(seen.csv).toEqual(escaped.map((row) => row.map((cell) => cell ?? '')));
    expect(seen.duckdb.jsonl).toHaveLength(readable.length + more.length);
  });

  test('pandas reads every format', () => {
    expect(seen.pandas.parquet).toEqual(
      expected('unit_index', 'title', 'price.amount', 'sold', 'available'),
    );
    expect(seen.pandas.csv).toHaveLength(adversarial.length + more.length);
    expect(seen.pandas.csv[3]).toEqual(['3', 'a,"b"\r\nc\nd', '']);
    expect(seen.pandas.jsonl).toBe(readable.length + more.length);
  });

  test('a spreadsheet sees no formula', () => {
    expect(seen.spreadsheet).toEqual({ rows: adversarial.length + more.length + 1, formulas: [] });
  });
});
