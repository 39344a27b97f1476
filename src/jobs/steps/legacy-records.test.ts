import { readFileSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { gunzipSync } from 'node:zlib';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { createCrashingProcess } from '../../../test/support/crash.ts';
import { type JobFixture, openJobFixture } from '../../../test/support/jobs.ts';
import type { Batch } from '../../store/documents.ts';
import { openSqliteStore } from '../../store/sqlite/open.ts';
import { sweep } from '../../sweep/sweep.ts';
import { readRecords } from '../records.ts';
import { migrateLegacyRecords } from './legacy-records.ts';
import { work } from './work.ts';

/**
 * A data file of schema version 10, with records in a table: a variant-sold job with two successful items and a
 * failed one, a get_pc task, and a variant-sold job of three items with a record of the first.
 */
const earlierData = new URL('../../../test/earlier-data/data-v10.sqlite.gz', import.meta.url);
const userId = '3724c7a6-d7ef-4b81-ad98-5534b4b4dc63';
const done = 'bc3174e7-6246-4f58-8cb5-ff9bec9c6b1e';
const task = '4bbba113-56e8-4051-b1f4-d23d9a5d83f1';
const running = 'acaad1f9-e5b2-479a-90b6-ca8120512828';

let folder: string;
let fixture: JobFixture;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'gleaner-earlier-'));
  const path = join(folder, 'data.sqlite');
  await writeFile(path, gunzipSync(readFileSync(earlierData)), { mode: 0o600 });
  fixture = await openJobFixture({}, openSqliteStore({ path }));
});
afterEach(async () => {
  await fixture.close();
  await rm(folder, { recursive: true, force: true });
});

const never = new AbortController().signal;
const batchOf = async (jobId: string): Promise<Batch> =>
  (await Array.fromAsync(fixture.context.store.readBatches(jobId)))[0]!;
const idsOf = async (jobId: string) =>
  [...(await readRecords(fixture.context, await batchOf(jobId)))].map(([index, body]) => [
    index,
    JSON.parse(Buffer.from(body).toString()).itemId ?? 'page',
  ]);
const leftIn = async (jobId: string) =>
  (await fixture.context.store.readLegacyRecords(await batchOf(jobId))).size;

describe('records of an earlier version', () => {
  test('are readable before and after they are moved, with the same bytes', async () => {
    const before = [await idsOf(done), await idsOf(task), await idsOf(running)];
    expect(before.map((ids) => ids.length)).toEqual([3, 1, 1]);
    const shown = () => fixture.read(userId, 'RetrieveGetPc', { taskId: '1' });
    const { result } = await shown();
    await migrateLegacyRecords(fixture.context);
    expect([await leftIn(done), await leftIn(task), await leftIn(running)]).toEqual([0, 0, 1]);
    expect([await idsOf(done), await idsOf(task), await idsOf(running)]).toEqual(before);
    expect((await shown()).result).toBe(result);
    expect((await batchOf(done)).parts).toHaveLength(1);
    // A second run finds nothing to do.
    await migrateLegacyRecords(fixture.context);
    expect((await batchOf(done)).parts).toHaveLength(1);
  });

  test('of a batch in progress become part of its file and are not fetched again', async () => {
    const batch = await batchOf(running);
    const { id: batchId, market, region, lane, attempt } = batch;
    const message = { jobId: running, batchId, market, region, lane, units: batch.units.length, attempt };
    await work(fixture.context, message, () => {}, never);
    expect(fixture.requestedItems()).toHaveLength(2);
    const job = await fixture.waitForState(running, 'completed');
    expect(JSON.parse(await text(await fixture.context.blobs.read(job.file!.path)))).toHaveLength(3);
    await migrateLegacyRecords(fixture.context);
    expect(await leftIn(running)).toBe(0);
    expect((await batchOf(running)).parts).toHaveLength(1);
    expect(await idsOf(running)).toHaveLength(3);
  });

  test.each(['before', 'after'] as const)('survive a crash %s any call of the migration', async (when) => {
    const before = [await idsOf(done), await idsOf(task)];
    for (let last = 1; ; last += 1) {
      const victim = createCrashingProcess(fixture.context, last, when);
      await migrateLegacyRecords(victim.context).catch(() => {});
      expect([await idsOf(done), await idsOf(task)]).toEqual(before);
      if (!victim.isCrashed()) break;
    }
    expect([await leftIn(done), await leftIn(task)]).toEqual([0, 0]);
    expect((await batchOf(done)).parts).toHaveLength(1);
  });

  test('are moved by the sweep', async () => {
    await sweep(fixture.context);
    expect([await leftIn(done), await leftIn(task)]).toEqual([0, 0]);
  });
});

test('deletes the records of jobs whose results were deleted, instead of moving them', async () => {
  const { store, blobs } = fixture.context;
  expect(await leftIn(done)).toBeGreaterThan(0);
  expect(await store.markFilesDeleted(done, 0)).not.toBeNull();
  await migrateLegacyRecords(fixture.context);
  expect(await leftIn(done)).toBe(0);
  expect(await blobs.listJob(done)).toEqual([]);
  expect(await blobs.listJob(task)).not.toEqual([]);
});
