import { buffer } from 'node:stream/consumers';
import { crc32 } from 'node:zlib';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { type JobFixture, openJobFixture } from '../../../test/support/jobs/jobs.ts';
import { sha256 } from '../../base/id.ts';
import { services } from '../../contract/services.ts';
import { cellReader } from '../../formats/cells.ts';
import { parseExact } from '../../formats/json-text.ts';
import { kinds } from '../../kinds/list.ts';
import { markets } from '../../markets/list.ts';
import type { ListPage, ListSummary } from '../../markets/market.ts';
import { compileFields } from '../../quality/record-schema.ts';
import type { Batch } from '../../store/batches.ts';
import { aBatch, aFailure, aJob, aSuccess, units } from '../../store/conformance/samples.ts';
import type { Job, StoredFile } from '../../store/documents.ts';
import { resolveJobTypes } from '../job-types.ts';
import { exportFile, openJobFile } from './files.ts';
import { placeColumnsOf, type RowScope, recordFieldsOf, rowColumnsOf, rowsOf } from './rows.ts';

let fixture: JobFixture;
beforeEach(async () => {
  fixture = await openJobFixture();
});
afterEach(() => fixture.close());

const rows = (job: Job, scope?: RowScope) => Array.fromAsync(rowsOf(fixture.context, job, scope));
const storedFile = (path: string, items: number): StoredFile => ({
  path,
  contentType: 'application/json',
  items,
  bytes: 1,
  sha256: '',
});

/** Creates a job of two batches with two units; the second unit fails. */
async function recordJob(fields: Partial<Job> = {}): Promise<Job> {
  const job = aJob({ kind: 'variant_sold', totalUnits: 4, totalBatches: 2, ...fields });
  const batches = [0, 1].map((seq) => {
    const text = `{"title":"${seq}","price":12345678901234567890}`;
    return { text, path: `${job.id}/segment-${seq}` };
  });
  for (const { text, path } of batches)
    await fixture.context.blobs.write(
      path,
      'application/json',
      (async function* () {
        yield text;
      })(),
      () => 1,
    );
  const batchOf = ({ text, path }: { text: string; path: string }, seq: number) =>
    aBatch(job, seq, units(2, `${seq}/`), {
      state: 'done',
      success: 1,
      failed: 1,
      outcomes: { 0: aSuccess(), 1: aFailure },
      file: storedFile(`${job.id}/batch_${seq}.json`, 1),
      segments: [
        {
          path,
          bytes: 0,
          sha256: sha256(text),
          encoding: 'plain',
          records: { 0: [0, text.length, crc32(text)] },
          body: null,
        },
      ],
    });
  await fixture.context.store.jobs.create(job, batches.map(batchOf));
  return job;
}

/** Creates a job of one listing whose file its kind has written from these pages. */
async function listingJob(kind: string, pages: ListPage[], items?: number): Promise<Job> {
  const job = aJob({ kind, totalUnits: 1, totalBatches: 1 });
  const [unit] = units(1, 'https://shop.test/');
  const path = `${job.id}/unit.json`;
  const batch: Batch = aBatch(job, 0, [unit!], { state: 'done', success: 1 });
  const { kind: its, result } = fixture.context.jobTypes.of(job);
  async function* read(): AsyncGenerator<ListPage, ListSummary, void> {
    yield* pages;
    return { has_more: false };
  }
  const pack = its.files.unit!;
  const place = { job, batch, collectedAt: 1, result };
  async function* chunks() {
    yield pack.head(unit!, place);
    yield* pack.body(read(), unit!, place);
  }
  const count = pages.flatMap(({ entries }) => entries).length;
  const written = await fixture.context.blobs.write(
    path,
    'application/json',
    chunks(),
    () => items ?? count,
  );
  const outcome = { ...aSuccess(), file: written };
  await fixture.context.store.jobs.create(job, [{ ...batch, outcomes: { 0: outcome } }]);
  return job;
}

describe('rowsOf()', () => {
  const rowOf = (index: number) => ({
    unit_index: index,
    unit_key: `${index / 2}/0`,
    unit_region: 'id',
    title: `${index / 2}`,
    price: 12345678901234567890n,
  });

  test('yields the record of each successful unit with its place and exact numbers', async () => {
    expect(await rows(await recordJob())).toEqual([rowOf(0), rowOf(2)]);
  });

  test('yields the records of one batch or unit', async () => {
    const job = await recordJob();
    expect(await rows(job, { batch: 1 })).toEqual([rowOf(2)]);
    expect(await rows(job, { unit: 0 })).toEqual([rowOf(0)]);
    expect(await rows(job, { unit: 1 })).toEqual([]);
  });

  test('yields the entries of a search with their position', async () => {
    const entries = [
      { name: 'a\u2028b\n"items":[' },
      { name: '"items":[', nested: { list: ['x'] } },
    ];
    const job = await listingJob('search_items', [
      { list: 'items', entries: entries.slice(0, 1) },
      { list: 'items', entries: entries.slice(1) },
    ]);
    expect(await rows(job)).toEqual(
      entries.map((entry, at) => ({
        unit_index: 0,
        unit_key: 'https://shop.test/0',
        unit_region: 'id',
        unit_list: 'items',
        unit_position: at,
        ...entry,
      })),
    );
  });

  test('keeps members of a record that are named like columns of its place', async () => {
    const job = await listingJob('search_items', [
      {
        list: 'items',
        entries: [{ unit_index: 'mine', unit_key: null, name: 'a', other_fields: 1 }],
      },
    ]);
    const [row] = await rows(job);
    expect(row).toEqual({
      unit_index: 0,
      unit_key: 'https://shop.test/0',
      unit_region: 'id',
      unit_list: 'items',
      unit_position: 0,
      name: 'a',
      other_fields: { unit_index: 'mine', unit_key: null, other_fields: 1 },
    });
    const cells = cellReader(rowColumnsOf(fixture.context.jobTypes.of(job)))(row!);
    expect(cells.slice(0, 2)).toEqual([0, 'https://shop.test/0']);
    expect(JSON.parse(String(cells.at(-1)))).toMatchObject({ unit_index: 'mine', other_fields: 1 });
  });

  test('yields the entries of both lists of a shop', async () => {
    const job = await listingJob('merchant_items', [
      { list: 'items', entries: [{ id: 1 }] },
      { list: 'rcmd_items', entries: [{ id: 2 }, { id: 3 }] },
    ]);
    const seen = (await rows(job)).map(({ id, unit_list: list, unit_position: at }) => [
      id,
      list,
      at,
    ]);
    const byId = new Map(seen.map(([id, list]) => [id, list]));
    expect(byId).toEqual(
      new Map([
        [1, 'items'],
        [2, 'rcmd_items'],
        [3, 'rcmd_items'],
      ]),
    );
    expect(seen.map(([, , at]) => at)).toEqual([0, 1, 2]);
  });

  test.each(['search_items', 'merchant_items'])(
    'yields nothing for an empty listing of %s',
    async (kind) => {
      expect(await rows(await listingJob(kind, []))).toEqual([]);
    },
  );

  test('fails if a file has fewer entries than were written', async () => {
    const job = await listingJob('search_items', [{ list: 'items', entries: [{ id: 1 }] }], 2);
    await expect(rows(job)).rejects.toMatchObject({ code: 'storage_damaged' });
  });

  test('throws results_deleted for a job whose results were deleted', async () => {
    const job = await recordJob();
    expect(() => rowsOf(fixture.context, { ...job, filesDeletedAt: 1 })).toThrow(/deleted/);
  });
});

describe('exportFile()', () => {
  const read = async (path: string, format: string) => {
    const { bytes, ...rest } = await exportFile(fixture.context, path, {
      format,
      only: '',
      columns: '',
    });
    return {
      ...rest,
      rows: parseExact((await buffer(bytes)).toString()) as { unit_index: number }[],
    };
  };

  test('returns the records of the merged file, of a batch, and of a unit', async () => {
    const id = '5d2b7b0e-2f0b-4f43-8a5c-0d4f3a9d7c11';
    const job = await recordJob({ id, file: storedFile(`${id}/full.jsonl.gz`, 2) });
    const merged = await read(`${id}/full.jsonl.gz`, 'json');
    expect(merged.fileName).toBe('full.json');
    expect(merged.rows.map(({ unit_index: index }) => index)).toEqual([0, 2]);
    const batch = await read(`${job.id}/batch_1.json`, 'json');
    expect(batch).toMatchObject({ fileName: 'batch_1.json', contentType: 'application/json' });
    expect(batch.rows.map(({ unit_index: index }) => index)).toEqual([2]);
    const listing = await listingJob('search_items', [{ list: 'items', entries: [{ id: 1 }] }]);
    expect((await read(`${listing.id}/unit.json`, 'json')).rows).toHaveLength(1);
  });

  test('names the file after the stored one, with the extension of the format', async () => {
    const job = await recordJob();
    const { fileName } = await exportFile(fixture.context, `${job.id}/batch_0.json`, {
      format: 'csv-bom',
      only: '',
      columns: '',
    });
    expect(fileName).toBe('batch_0.csv');
  });

  test('rejects an unknown format and an unknown file', async () => {
    const job = await recordJob();
    await expect(read(`${job.id}/batch_0.json`, 'xlsx')).rejects.toMatchObject({
      problems: [{ loc: ['query', 'format'], type: 'enum' }],
    });
    for (const path of [`${job.id}/other.json`, 'no-job/batch_0.json'])
      await expect(read(path, 'json')).rejects.toMatchObject({ code: 'results_deleted' });
  });
});

describe('openJobFile()', () => {
  test.each([
    ['parquet', true],
    ['csv', false],
  ] as const)(
    '%s has the columns of all marketplaces of the kind: %s',
    async (format, hasOthers) => {
      const job = await recordJob({ market: 'mkte', kind: 'pdp_bulk' });
      const context = { ...fixture.context, jobTypes: resolveJobTypes(services, kinds, markets) };
      const text = String(await buffer(openJobFile(context, job, format).read()));
      expect(text).toContain('price.amount');
      expect(text.includes('data.summary.name')).toBe(hasOthers);
    },
  );
});

describe('rowColumnsOf()', () => {
  const jobTypes = resolveJobTypes(services, kinds, markets);
  const all = new Set(
    Array.from(jobTypes.methods.values(), ({ jobType }) => jobType).filter(
      (jobType) => jobType !== null,
    ),
  );
  const named = Array.from(all, (jobType) => ({
    name: `${jobType.market.name} ${jobType.kind.name}`,
    jobType,
  }));

  test.each(named)(
    'returns distinct columns for $name, whose records have no member of a place',
    ({ jobType }) => {
      const names = rowColumnsOf(jobType).map(({ name }) => name);
      expect(new Set(names).size).toBe(names.length);
      const places = placeColumnsOf(jobType).map(({ name }) => name);
      const members = compileFields(recordFieldsOf(jobType)).map(({ steps }) => steps[0]);
      expect(places.filter((name) => members.includes(name))).toEqual([]);
    },
  );
});
