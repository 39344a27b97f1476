import { beforeEach, expect, test } from 'vitest';
import { type JobFixture, openJobFixture } from '../../../test/support/jobs/jobs.ts';
import { createColumns } from '../../formats/columns.ts';
import { markets } from '../../markets/list.ts';
import { countRecords } from '../../quality/data-quality.ts';
import { aBatch, aJob, aSuccess, units } from '../../store/conformance/samples.ts';
import { recordFieldsOf } from './rows.ts';
import { columnFillsOf } from './units.ts';

let fixture: JobFixture;
beforeEach(async () => {
  fixture = await openJobFixture();
  return () => fixture.close();
});

/** Stores an ended job with two records per batch. */
async function createJob(batches: readonly (readonly object[])[]) {
  const { store, jobTypes } = fixture.context;
  const job = aJob({
    kind: 'variant_sold',
    state: 'completed',
    finishedAt: 1,
    totalUnits: 2 * batches.length,
    totalBatches: batches.length,
  });
  const listed = recordFieldsOf(jobTypes.of(job));
  const stored = batches.map((records, seq) =>
    aBatch(job, seq, units(2, `${seq}/`), {
      outcomes: { 0: aSuccess(), 1: aSuccess() },
      success: 2,
      state: 'done',
      segments: [
        {
          path: `${job.id}/segment-${seq}`,
          bytes: 7,
          sha256: '',
          encoding: 'plain',
          records: {},
          body: null,
          quality: countRecords(
            listed,
            records.map((record) => Buffer.from(JSON.stringify(record))),
          ),
        },
      ],
    }),
  );
  await store.jobs.create(job, stored);
  return job;
}

const fillsByName = async (job: Parameters<typeof columnFillsOf>[1]) => {
  const { records, columns } = await columnFillsOf(fixture.context, job);
  return {
    records,
    fills: Object.fromEntries(columns.map(({ column, fill }) => [column.name, fill])),
  };
};

test('columnFillsOf() counts null, empty values, and values of another type as missing, over all batches', async () => {
  const price = (discountPrice: unknown) => ({ itemCardV2: { displayPrice: { discountPrice } } });
  const { records, fills } = await fillsByName(
    await createJob([
      [
        { title: 'a', rating: 0, images: ['x'], models: [{ stock: null }], ...price('1') },
        { title: '', rating: null, images: [], models: [], ...price(null) },
      ],
      [
        { title: 'b', rating: '5' },
        { title: 7, rating: 4.5, itemCardV2: null },
      ],
    ]),
  );
  expect(records).toBe(4);
  expect(fills).toMatchObject({
    title: 0.5,
    rating: 0.5,
    images: 0.25,
    models: 0.25,
    'itemCardV2.displayPrice.discountPrice': 0.25,
  });
});

test('columnFillsOf() returns 0 without records, and no columns of the unit or of an object with columns', async () => {
  const { records, fills } = await fillsByName(await createJob([]));
  expect(records).toBe(0);
  expect(new Set(Object.values(fills))).toEqual(new Set([0]));
  expect(fills).not.toHaveProperty('unit_key');
  expect(fills).not.toHaveProperty(['itemCardV2.displayPrice']);
});

test('each column of every market is a listed field', () => {
  for (const { name, listedFields } of markets)
    for (const listed of Object.values(listedFields)) {
      const paths = Object.keys(listed);
      for (const column of createColumns(listed)) expect(paths, name).toContain(column.name);
    }
});
