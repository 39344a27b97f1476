import { buffer } from 'node:stream/consumers';
import { describe, expect, test } from 'vitest';
import { contextWith } from '../../../test/support/jobs/context.ts';
import {
  type MarketPage,
  marketPages,
  readMarketPage,
} from '../../../test/support/pages/market-pages.ts';
import { services } from '../../contract/services.ts';
import { createFormat } from '../../formats/format.ts';
import { type ExactObject, parseExact } from '../../formats/json-text.ts';
import { kinds } from '../../kinds/list.ts';
import { markets } from '../../markets/list.ts';
import type { Outcome } from '../../store/batches.ts';
import { aJob } from '../../store/conformance/samples.ts';
import { resolveJobTypes } from '../job-types.ts';
import { standardColumns, tableOf } from './item-values.ts';
import type { Entry } from './rows.ts';

const jobTypes = resolveJobTypes(services, kinds, markets);
const readAt = Date.UTC(2026, 0, 1, 12, 0, 0, 250);
const origin = { concurrency: 1, requestsPerSecond: 1 };
const settings = {
  origins: new Map(
    markets.map(({ name, regions }) => [
      name,
      {
        ...origin,
        addresses: new Map(regions.map((region) => [region, `https://${region}.${name}.test`])),
      },
    ]),
  ),
} as unknown as Parameters<typeof tableOf>[0]['settings'];

/** Returns the standard table of a page's records in a format. */
async function exportPage(page: MarketPage, format: 'jsonl' | 'csv') {
  const [market, region, name, input] = page;
  const kind = kinds.find(
    (each) =>
      each.page === name &&
      jobTypes.methods
        .values()
        .some(({ jobType }) => jobType?.kind === each && jobType.market.name === market),
  )!;
  const records = await readMarketPage(page);
  async function* entries(): AsyncGenerator<Entry> {
    for (const [index, record] of records.entries()) {
      const outcome: Outcome = { status: 'SUCCESS', attempt: 1, readAt };
      const requested = { key: String(input.url ?? index), input };
      const unit = { index, batchId: '', region, unit: requested, status: outcome.status, outcome };
      const entry = { unit, batch: 0, position: 0 };
      yield { ...entry, record: parseExact(JSON.stringify(record)) as ExactObject };
      yield { ...entry, record: null };
    }
  }
  const job = aJob({ market, kind: kind.name });
  const { columns, rows } = tableOf(
    contextWith({ jobTypes, settings }),
    job,
    entries(),
    'standard',
  );
  const text = (await buffer(createFormat(format, columns)(rows))).toString();
  return { text, count: records.length };
}

/** Values that the records of some pages do not state. */
const unstated: Readonly<Record<string, readonly string[]>> = {
  'mkta product': ['list_price'],
  'mkta variants': ['list_price', 'seller'],
  'mkta search': ['seller'],
  'mkta merchant': ['seller'],
  'mktb product': ['brand', 'list_price', 'rating'],
  'mktb search': ['brand', 'availability', 'reviews'],
  'mktb merchant': ['brand', 'seller'],
  'mktc product': ['rating'],
  'mktd product': ['brand'],
  'mkte product': ['list_price'],
  'mkte search': ['brand', 'availability', 'seller'],
  'mktf search': ['currency', 'rating', 'reviews', 'seller'],
  'sites product': ['list_price'],
  'sites search': ['list_price'],
};

describe.each(marketPages)('the standard table of %s %s %s', (...page) => {
  test('has the same columns, and a value of each that the records state', async () => {
    const { text, count } = await exportPage(page, 'jsonl');
    const rows = text
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line));
    expect(rows).toHaveLength(count);
    const types = { string: 'string', number: 'number', integer: 'number', timestamp: 'string' };
    const names = standardColumns.map(({ name }) => name);
    for (const row of rows) {
      expect(Object.keys(row)).toEqual(names);
      for (const { name, type } of standardColumns)
        if (row[name] !== null) expect(typeof row[name]).toBe(types[type as keyof typeof types]);
      expect(row.collected_at).toBe('2026-01-01T12:00:00.250Z');
      expect(row.url).toMatch(/^https:\/\//);
      if (row.image !== null) expect(row.image).toMatch(/^https:\/\//);
      expect([null, 'in_stock', 'out_of_stock']).toContain(row.availability);
      if (row.list_price !== null) expect(row.list_price).toBeGreaterThan(row.price);
    }
    const missing = names.filter((name) => rows.every((row) => row[name] === null));
    expect(missing).toEqual(unstated[`${page[0]} ${page[2]}`] ?? []);
  });

  test('is CSV with the columns as header', async () => {
    const { text, count } = await exportPage(page, 'csv');
    const [header, ...lines] = text.trimEnd().split('\r\n');
    expect(header).toBe(
      'id,url,title,brand,price,currency,list_price,availability,rating,reviews,seller,image,collected_at',
    );
    expect(lines.length).toBeGreaterThanOrEqual(count);
  });
});
