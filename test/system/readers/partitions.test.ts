import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { services } from '../../../src/contract/services.ts';
import { expandPath } from '../../../src/destinations/path-template.ts';
import { type Column, topColumn } from '../../../src/formats/columns.ts';
import { createFormat } from '../../../src/formats/format.ts';
import type { ExactObject } from '../../../src/formats/json-text.ts';
import { resolveJobTypes } from '../../../src/jobs/job-types.ts';
import { tableColumnsOf } from '../../../src/jobs/queries/files.ts';
import { kinds } from '../../../src/kinds/list.ts';
import { markets } from '../../../src/markets/list.ts';
import { findEngine } from '../../engines/missing.ts';
import { root } from '../../support/service/service.ts';
import { run } from '../clients/tools.ts';
import { findTableReaders, stream } from './rows.ts';

const python = await findEngine(findTableReaders());
const timeoutMs = 240_000;
const jobTypes = resolveJobTypes(services, kinds, markets);
const kind = 'pdp_bulk';

/** Files of jobs: market, day, rows, and columns that a later version of the service adds. */
const jobs: [string, string, ExactObject[], Column[]][] = [
  ['mkte', '2030-01-01', [row('lamp', 10), row('chair', 30)], []],
  ['mkte', '2030-01-02', [row('=1+1', 8)], [topColumn('added', 'string')]],
  ['mkte', '2029-12-31', [row('table', 1)], []],
  // A marketplace without this price.
  ['mktb', '2030-01-01', [row('mug', 5)], []],
];

function row(title: string, amount: number): ExactObject {
  return {
    unit_index: 0,
    unit_key: title,
    title,
    price: { amount, currency: 'EUR' },
    added: 'later',
  };
}

interface Seen {
  duckdb: string[][];
  newer: (string | null)[][];
  pandas: { columns: string[]; titles: string[] };
  excel: unknown[][];
  formulas: number;
}
let folder: string;
let seen: Seen;

describe.skipIf('missing' in python)(
  'delivered Parquet files in folders by market and date',
  () => {
    beforeAll(async () => {
      if ('missing' in python) return;
      folder = await mkdtemp(join(tmpdir(), 'gleaner-partitions-'));
      const docs = await readFile(join(root, 'docs/delivery.md'), 'utf8');
      const section = docs.slice(
        docs.indexOf('## Query a bucket as a table'),
        docs.indexOf('## Attempts'),
      );
      const [template] = blocksOf(section, '') as [string];
      for (const [index, [market, day, rows, added]] of jobs.entries()) {
        const ended = Date.parse(`${day}T12:00:00Z`);
        const values = {
          market,
          kind,
          region: 'sg',
          status: 'completed',
          endedAt: ended,
          ext: 'parquet',
        };
        const path = join(folder, expandPath(template, { ...values, jobId: `job-${index}` }));
        await mkdir(dirname(path), { recursive: true });
        const columns = [...tableColumnsOf(jobTypes, jobTypes.of({ market, kind })), ...added];
        await writeFile(path, createFormat('parquet', columns)(stream(rows)));
      }
      const local = (blocks: string[]) =>
        blocks.join('\n').replaceAll('s3://acme-results/gleaner/', '');
      // The secret of the bucket is not needed.
      await writeFile(
        join(folder, 'recipe.sql'),
        local(blocksOf(section, 'sql')).replace(/^create secret .*\n/, ''),
      );
      await writeFile(join(folder, 'recipe.py'), local(blocksOf(section, 'python')));
      const env = { PYTHONPATH: python.folder, PYTHONDONTWRITEBYTECODE: '1' };
      const script = join(root, 'test/system/readers/read_partitions.py');
      const { stdout } = await run('python3', [script], { cwd: folder, env });
      seen = JSON.parse(stdout) as Seen;
    }, timeoutMs);
    afterAll(() => folder && rm(folder, { recursive: true, force: true }));

    test('are one table for the DuckDB of the documentation', () => {
      expect(seen.duckdb).toEqual([
        ['mktb', '2030-01-01', '1', 'None'],
        ['mkte', '2030-01-01', '2', '20.0'],
        ['mkte', '2030-01-02', '1', '8.0'],
      ]);
    });

    test('may gain columns, which are null in older files', () => {
      expect(seen.newer).toEqual([['later'], ...Array.from({ length: 4 }, () => [null])]);
    });

    test('are one table for the pandas of the documentation, which writes a workbook', () => {
      const columns = ['unit_key', 'title', 'price.amount', 'market', 'date'];
      expect(seen.pandas).toEqual({ columns, titles: ['=1+1', 'chair', 'lamp'] });
      expect(seen.excel[0]).toEqual(columns);
      expect(seen.formulas).toBe(0);
      expect(seen.excel.slice(1).map(([key, , price]) => [key, price])).toEqual(
        expect.arrayContaining([
          ['lamp', 10],
          ['chair', 30],
          ['=1+1', 8],
        ]),
      );
    });
  },
);

/** Returns the code blocks of a language in a text. */
function blocksOf(text: string, language: string): string[] {
  return [...text.matchAll(/^```(\w*)\n([\s\S]*?)^```$/gm)].flatMap(([, name, code]) =>
    name === language ? [code!.trim()] : [],
  );
}
