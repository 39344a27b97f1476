import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { services } from '../../contract/services.ts';
import { cellReader } from '../../formats/cells.ts';
import { kinds } from '../../kinds/list.ts';
import { markets } from '../../markets/list.ts';
import { resolveJobTypes } from '../job-types.ts';
import { tableColumnsOf } from './files.ts';

const jobTypes = resolveJobTypes(services, kinds, markets);
const names = ['mktb', 'mktc', 'mktd', 'mkte', 'mktf'];
const createColumns = (market: string, kind: string) =>
  tableColumnsOf(jobTypes, jobTypes.of({ market, kind }));
const textOf = (market: string, kind: string) =>
  createColumns(market, kind).map(({ name, type }) => `${kind} ${name} ${type}`);
const everyJobType = [
  ...new Set(Array.from(jobTypes.methods.values(), ({ jobType }) => jobType)),
].flatMap((jobType) =>
  jobType === null ? [] : [{ market: jobType.market.name, kind: jobType.kind.name }],
);

describe('tableColumnsOf()', () => {
  test('returns the same columns for all markets of a kind', () => {
    for (const kind of new Set(everyJobType.map((jobType) => jobType.kind))) {
      const ofKind = everyJobType.filter((jobType) => jobType.kind === kind);
      for (const { market } of ofKind)
        expect(textOf(market, kind)).toEqual(textOf(ofKind[0]!.market, kind));
    }
    expect(
      names.filter((market) => everyJobType.some((jobType) => jobType.market === market)),
    ).toEqual(names);
  });

  test('names a column after its type if it differs from that of an earlier market', () => {
    const cellsOf = (market: string, row: object) => {
      const columns = createColumns(market, 'search_bulk');
      const cells = cellReader(columns)(row as never);
      return Object.fromEntries(
        columns.flatMap(({ name }, at) => (cells[at] === null ? [] : [[name, cells[at]]])),
      );
    };
    expect(cellsOf('mktb', { id: '7', price: 9.5, unknown: 1 })).toEqual({
      id: '7',
      price: 9.5,
      other_fields: '{"unknown":1}',
    });
    expect(cellsOf('mkte', { price: '9.50 €' })).toEqual({ price_string: '9.50 €' });
    expect(cellsOf('mktf', { id: 7 })).toEqual({ id_integer: 7 });
  });

  test('returns every recorded column, with its type', () => {
    const file = new URL('table-columns.txt', import.meta.url);
    const recorded = readFileSync(file, 'utf8').trim().split('\n');
    const current = [...new Set(everyJobType.flatMap(({ market, kind }) => textOf(market, kind)))];
    // Tables that readers have created keep these columns, with these types.
    expect(recorded.filter((line) => !current.includes(line))).toEqual([]);
    // Add new columns to the end of the file.
    expect(current.filter((line) => !recorded.includes(line))).toEqual([]);
  });

  test('returns no names that readers confuse with each other or with the folders', () => {
    for (const { market, kind } of everyJobType) {
      const lower = createColumns(market, kind).map(({ name }) => name.toLowerCase());
      expect(lower.filter((name, at) => lower.indexOf(name) !== at)).toEqual([]);
      expect(lower.filter((name) => ['market', 'kind', 'date'].includes(name))).toEqual([]);
    }
  });
});
