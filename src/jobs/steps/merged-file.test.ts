import { text } from 'node:stream/consumers';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { readBatchFile, separateSegments } from '../../../test/support/jobs/batch-files.ts';
import {
  type JobFixture,
  openJobFixture,
  variantSoldRequest,
} from '../../../test/support/jobs/jobs.ts';
import { newId, sha256 } from '../../base/id.ts';
import type { Blobs } from '../../blobs/blobs.ts';
import { Fault } from '../../contract/fault.ts';
import type { Batch } from '../../store/batches.ts';
import type { Job } from '../../store/documents.ts';
import { readRecord, readRecords } from '../records.ts';
import { approve } from './decide.ts';
import { finishEnding } from './finalize-job.ts';
import { compile, replaceSegments } from './merged-file.ts';

let fixture: JobFixture;
beforeEach(async () => {
  fixture = await openJobFixture();
  await fixture.startWorker();
});
afterEach(() => fixture.close());

const failing = '30000000801';
const items = [...Array.from({ length: 60 }, (_, index) => String(20_101 + index)), failing];
const csv = Buffer.from(
  ['region,shop_id,item_id', ...items.map((item) => `sg,77,${item}`)].join('\n'),
);
type Request = Parameters<JobFixture['submit']>[2];
const requests: [name: string, method: string, request: Request][] = [
  ['JSON with a file per batch', 'SubmitVariantSold', variantSoldRequest(60, failing)],
  ['CSV', 'SubmitGetPcBulk', { file: csv.toString('base64') }],
  ['JSON Lines', 'SubmitGetPcBulk', { file: csv.toString('base64'), resultFormat: 'jsonl' }],
];

async function ended(method: string, request: Request): Promise<Job> {
  const userId = await fixture.createUser(5_000);
  await fixture.submit(userId, method, request);
  const [job] = (await fixture.context.store.jobs.list({ userId }, { limit: 1 })).items;
  if (job!.state === 'awaiting_approval') await approve(fixture.context, job!.id, newId());
  return fixture.waitForState(job!.id, 'completed', 'partial_complete');
}

const batchesOf = (job: Job): Promise<Batch[]> =>
  Array.fromAsync(fixture.context.store.batches.read(job.id));

/** Returns the records of a job by the key of their units. */
async function recordsOf(job: Job): Promise<Map<string, string>> {
  const records = new Map<string, string>();
  for (const batch of await batchesOf(job))
    for await (const [index, record] of readRecords(fixture.context, batch))
      records.set(batch.units[index]!.key, Buffer.from(record).toString());
  return records;
}

/**
 * Checks that each record of a batch is read by itself, and that the batch's file is as it was
 * written.
 */
async function checkBatch(batch: Batch, records: ReadonlyMap<string, string>): Promise<void> {
  for (const [index, { key }] of batch.units.entries()) {
    const record = await readRecord(fixture.context, batch, index);
    const stored = record === null ? undefined : Buffer.from(record).toString();
    expect(stored).toBe(records.get(key));
    if (stored !== undefined) expect(stored).toContain(key);
  }
  if (batch.file === null) return;
  const contents = await readBatchFile(fixture.context, batch.file);
  expect(sha256(contents.toString())).toBe(batch.file.sha256);
}

describe.each(requests)('an ended job with a merged file: %s', (_name, method, request) => {
  test('has no other file, and its records are read from this one', async () => {
    const { context } = fixture;
    const job = await ended(method, request);
    expect(await context.blobs.listJob(job.id)).toEqual([job.file!.path]);
    expect(await context.store.jobs.sumBytes(job.userId, 'results')).toBe(job.file!.bytes);
    const records = await recordsOf(job);
    expect(records.size).toBe(60);
    const batches = await batchesOf(job);
    expect(batches.length).toBeGreaterThan(1);
    for (const batch of batches) await checkBatch(batch, records);
  });

  test('is compiled again from its own rows, with the same bytes', async () => {
    const { context } = fixture;
    const job = await ended(method, request);
    const before = await batchesOf(job);
    const merged = (await compile(context, job, 60))!;
    expect(merged.file).toEqual(job.file);
    await replaceSegments(context, job, merged, before.length);
    expect(await batchesOf(job)).toEqual(before);
  });
});

describe('while another process ends the job', () => {
  /** A context whose first read of a file waits until `meanwhile` is done. */
  const delayed = (meanwhile: () => Promise<void>) => {
    const { context } = fixture;
    let first: Promise<void> | null = null;
    const read: Blobs['read'] = async (...place) => {
      first ??= meanwhile();
      await first;
      return context.blobs.read(...place);
    };
    return { ...context, blobs: { ...context.blobs, read } };
  };
  const request = variantSoldRequest(60, failing);
  /** An interrupted job whose batches have segments. */
  const interrupted = async (): Promise<Job> => {
    const { store, clock } = fixture.context;
    const job = await ended('SubmitVariantSold', request);
    await separateSegments(fixture.context, job.id);
    await store.jobs.move(job.id, ['completed'], 'settling', clock.now(), {
      file: null,
      finishedAt: null,
    });
    return (await store.jobs.get(job.id))!;
  };

  test('a reader with a reference to a removed segment finds its records', async () => {
    const job = await interrupted();
    const expected = await recordsOf(job);
    const reading = delayed(() => finishEnding(fixture.context, job));
    const found = [];
    for (const batch of await batchesOf(job))
      for await (const [index] of readRecords(reading, batch)) found.push(batch.units[index]!.key);
    expect(found).toEqual([...expected.keys()]);
    expect(await recordsOf(job)).toEqual(expected);
  });

  test('a second end of the job finds the rows of removed segments', async () => {
    const job = await interrupted();
    const slow = delayed(() => finishEnding(fixture.context, job));
    await finishEnding(slow, job);
    const after = (await fixture.context.store.jobs.get(job.id))!;
    expect(after.state).toBe('completed');
    expect(JSON.parse(await text(await fixture.context.blobs.read(after.file!.path)))).toHaveLength(
      61,
    );
    expect(await fixture.problems()).toEqual([]);
  });

  test('a resumed end keeps a file that another version of the program wrote', async () => {
    const { context } = fixture;
    const { store, blobs } = context;
    const job = await interrupted();
    const { file } = (await compile(context, job, 60))!;
    const other = ` ${await text(await blobs.read(file.path))}`;
    const chunks = async function* () {
      yield other;
    };
    const stored = await blobs.write(file.path, file.contentType, chunks(), () => file.items);
    await store.jobs.update({ id: job.id }, { file: stored });
    await finishEnding(context, (await store.jobs.get(job.id))!);
    expect(await store.jobs.get(job.id)).toMatchObject({ state: 'completed', file: stored });
    expect(await text(await blobs.read(file.path))).toBe(other);
    expect((await recordsOf(job)).size).toBe(60);
  });

  test('a resumed end does not end with a file that is missing', async () => {
    const { context } = fixture;
    const { store, blobs } = context;
    const job = await interrupted();
    const merged = (await compile(context, job, 60))!;
    const [batch] = await batchesOf(job);
    await blobs.remove([merged.file.path, batch!.segments[0]!.path]);
    const resumed = { ...job, file: merged.file };
    await expect(finishEnding(context, resumed)).rejects.toMatchObject({ code: 'storage_damaged' });
    expect(await store.jobs.get(job.id)).toMatchObject({ state: 'settling' });
  });

  test('segments are removed only after the references to the file are durable', async () => {
    const { context } = fixture;
    const job = await interrupted();
    const calls: string[] = [];
    const { jobs, batches } = context.store;
    const remove: Blobs['remove'] = async (paths) => {
      calls.push('remove');
      return context.blobs.remove(paths);
    };
    const store = {
      ...context.store,
      jobs: {
        ...jobs,
        update: (async (where, change, options) => {
          calls.push(options?.relaxed ? 'relaxed' : 'durable');
          return jobs.update(where, change, options);
        }) satisfies typeof jobs.update,
      },
      batches: {
        ...batches,
        writeAll: (async (...writes) => {
          calls.push('batches');
          return batches.writeAll(...writes);
        }) satisfies typeof batches.writeAll,
      },
    };
    await finishEnding({ ...context, store, blobs: { ...context.blobs, remove } }, job);
    expect(calls).toEqual(['relaxed', 'batches', 'durable', 'remove']);
  });

  test('the next end removes segments that the storage failed to remove', async () => {
    const { context } = fixture;
    const { store, blobs } = context;
    const job = await interrupted();
    const remove = () => Promise.reject(new Fault('unavailable', 'The storage is away.'));
    const failed = { ...context, blobs: { ...blobs, remove } };
    await expect(finishEnding(failed, job)).rejects.toMatchObject({ code: 'unavailable' });
    await finishEnding(context, (await store.jobs.get(job.id))!);
    const after = (await store.jobs.get(job.id))!;
    expect(await blobs.listJob(job.id)).toEqual([after.file!.path]);
    expect((await recordsOf(after)).size).toBe(60);
  });
});
