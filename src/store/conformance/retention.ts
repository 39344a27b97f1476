import { expect, test } from 'vitest';
import { newId } from '../../base/id.ts';
import { countsOf, findUnit } from '../batch-store.ts';
import { batchKey, type KeptPageLocation, type Outcome } from '../batches.ts';
import type { Where } from '../collection.ts';
import type { FieldOf } from '../declaration.ts';
import type { Job } from '../documents.ts';
import { markFilesDeleted, removePagePlaces } from '../retention.ts';
import type { Store } from '../store.ts';
import { aDeletedJob, aDelivery, aJob, aSegment, aSuccess, aTime, storeJob } from './samples.ts';
import { collect, type OpenStores, runConcurrently, setUpStores } from './stores.ts';

/** Stores a job of `count` batches that ended at `finishedAt`. */
async function storeEnded(
  store: Store,
  finishedAt: number,
  fields: Partial<Job> = {},
  count = 1,
): Promise<Job> {
  const ended = { state: 'completed' as const, finishedAt, ...fields };
  return (await storeJob(store, count, ended)).job;
}

/** Deletion of jobs, files, and users. */
export function retentionConformance(open: OpenStores): void {
  const stores = setUpStores(open);

  test('marks the files of an ended job as deleted, and keeps the first time', async () => {
    const job = await storeEnded(stores.store, aTime);
    const marked = { ...job, filesDeletedAt: aTime + 5, fileDeletionDue: true };
    expect(await markFilesDeleted(stores.store, job.id, aTime + 5)).toEqual(marked);
    expect(await stores.other.jobs.get(job.id)).toEqual(marked);
    await stores.store.jobs.update({ id: job.id }, { fileDeletionDue: false });
    expect(await stores.other.jobs.get(job.id)).toEqual({ ...marked, fileDeletionDue: false });
    expect(await markFilesDeleted(stores.other, job.id, aTime + 9)).toEqual(marked);
  });

  test('does not mark a job that has not ended or does not exist', async () => {
    const { job } = await storeJob(stores.store, 1, { state: 'settling' });
    expect(await markFilesDeleted(stores.store, job.id, aTime)).toBeNull();
    expect(await stores.store.jobs.get(job.id)).toEqual(job);
    expect(await markFilesDeleted(stores.store, newId(), aTime)).toBeNull();
  });

  test('finds the jobs to delete, or whose files or pages to delete, page after page', async () => {
    const at = aTime - 1_000_000;
    const [second, first, third] = [
      await storeEnded(stores.store, at + 2, { pagesUntil: at + 5 }),
      await storeEnded(stores.store, at + 1, { mode: 'test' }),
      await storeEnded(stores.store, at + 3, { pagesUntil: at + 4, mode: 'test' }),
    ];
    await storeJob(stores.store, 1, { state: 'processing', stateSince: at, pagesUntil: at });
    await markFilesDeleted(stores.store, second.id, aTime);
    const lists: [Where<Job>, FieldOf<Job>[], Job[]][] = [
      [{ fileDeletionDue: true, userId: second.userId }, ['id'], [second]],
      [
        { pagesUntil: { atMost: at + 5 }, finishedAt: { not: null } },
        ['pagesUntil', 'id'],
        [third, second],
      ],
      [{ finishedAt: { below: at + 4 } }, ['finishedAt', 'id'], [first, second, third]],
      [
        { finishedAt: { below: at + 4 }, filesDeletedAt: null },
        ['finishedAt', 'id'],
        [first, third],
      ],
      [
        { finishedAt: { below: at + 3 }, filesDeletedAt: null, mode: 'test' },
        ['finishedAt', 'id'],
        [first],
      ],
    ];
    for (const [where, order, expected] of lists) {
      const found: Job[] = [];
      let after: (string | number)[] | null = null;
      for (let count = 0; count <= expected.length; count++) {
        const [next]: Job[] = await stores.other.jobs.find(where, { order, after, limit: 1 });
        if (next === undefined) break;
        found.push(next);
        after = order.map((field) => next[field] as string | number);
      }
      expect(found.map(({ id }) => id)).toEqual(expected.map(({ id }) => id));
    }
  });

  test('sums the bytes of the results of a user', async () => {
    const userId = newId();
    expect(await stores.store.jobs.sumBytes(userId, 'results')).toBe(0);
    const { job } = await storeJob(stores.store, 2, { userId, state: 'processing' });
    const [first, second] = await stores.store.batches.queue(job.id, 2, aTime);
    for (const reference of [first!, second!])
      await stores.store.batches.claim(batchKey(reference), 0, aTime, aTime + 1);
    const file = {
      path: 'j/u',
      contentType: 'application/json',
      items: 1,
      bytes: 30,
      sha256: '0a',
    };
    await stores.store.batches.recordOutcomes(batchKey(first!), 1, {
      outcomes: { 0: { ...aSuccess(), file } as Outcome },
    });
    expect(await stores.other.jobs.sumBytes(userId, 'results')).toBe(30);
    const segments = [aSegment('j/a', 0), aSegment('j/b', 1)];
    await stores.store.batches.recordOutcomes(batchKey(second!), 1, {
      outcomes: { 0: aSuccess() },
      segment: segments[0]!,
    });
    await stores.store.batches.recordOutcomes(batchKey(first!), 1, {
      outcomes: { 1: aSuccess() },
      segment: aSegment('j/c', 1),
    });
    expect(await stores.other.jobs.sumBytes(userId, 'results')).toBe(30 + 2 * segments[0]!.bytes);
    await stores.store.batches.recordOutcomes(batchKey(second!), 1, {
      outcomes: { 1: aSuccess() },
      segment: segments[1]!,
      end: { file: null, at: aTime },
    });
    expect(await stores.other.jobs.sumBytes(userId, 'results')).toBe(30 + 2 * segments[0]!.bytes);
    const ended = await storeEnded(stores.store, aTime, { userId, file: { ...file, bytes: 500 } });
    expect(await stores.other.jobs.sumBytes(userId, 'results')).toBe(530 + 2 * segments[0]!.bytes);
    await markFilesDeleted(stores.store, ended.id, aTime);
    expect(await stores.other.jobs.sumBytes(userId, 'results')).toBe(30 + 2 * segments[0]!.bytes);
  });

  test('replaces the kept pages of a batch with each write under its attempt, and sums their bytes', async () => {
    const userId = newId();
    const fields = { userId, state: 'processing', pagesUntil: aTime + 5 } as const;
    const { job, batches } = await storeJob(stores.store, 1, fields);
    const batch = batches[0]!;
    await stores.store.batches.queue(job.id, 1, aTime);
    await stores.store.batches.claim(batch, 0, aTime, aTime + 1);
    const pagesOf = async () => (await collect(stores.other.batches.read(job.id)))[0]!.pages;
    const page = {
      request: 'a',
      file: 0,
      offset: 0,
      length: 9,
      url: 'u',
      at: aTime,
      status: 200,
      sha256: 'b',
    };
    const pages = {
      files: [{ path: 'j/p1', bytes: 9 }],
      bytes: 9,
      units: { 0: [page] },
      kept: 1,
      missed: 0,
    };
    const more = { ...pages, bytes: 20, units: { 0: [page], 1: [] }, missed: 1 };
    expect(await pagesOf()).toBeNull();
    await stores.store.batches.recordOutcomes(batch, 1, { outcomes: { 0: aSuccess() }, pages });
    expect(await pagesOf()).toEqual(pages);
    expect(await stores.store.batches.recordOutcomes(batch, 2, { outcomes: {}, pages: more })).toBe(
      false,
    );
    expect(await pagesOf()).toEqual(pages);
    const others = Object.fromEntries(batch.units.slice(1).map((_, at) => [at + 1, aSuccess()]));
    await stores.store.batches.recordOutcomes(batch, 1, {
      outcomes: others,
      end: { file: null, at: aTime },
      pages: more,
    });
    expect(await pagesOf()).toEqual(more);
    expect(await stores.other.jobs.sumBytes(userId, 'pages')).toBe(20);
    expect(await stores.other.jobs.sumBytes(newId(), 'pages')).toBe(0);
    // An ended job is not read batch by batch.
    const counts = await countsOf(stores.store, job.id);
    const ended = { ...counts, pages: { kept: 1, missed: 1, bytes: 25 } };
    await stores.store.jobs.update({ id: job.id }, { counts: ended });
    expect(await stores.other.jobs.sumBytes(userId, 'pages')).toBe(25);
    const running = await storeJob(stores.store, 1, fields);
    await stores.store.batches.queue(running.job.id, 1, aTime);
    await stores.store.batches.claim(running.batches[0]!, 0, aTime, aTime + 1);
    await stores.store.batches.recordOutcomes(running.batches[0]!, 1, {
      outcomes: { 0: aSuccess() },
      pages,
    });
    expect(await stores.other.jobs.sumBytes(userId, 'pages')).toBe(25 + 9);
    await stores.store.jobs.update({ id: running.job.id }, { pagesUntil: null });
    await stores.store.jobs.update({ id: job.id }, { pagesUntil: null });
    expect(await stores.other.jobs.sumBytes(userId, 'pages')).toBe(0);
  });

  test('finds the first place of each kept page of a job, until they are removed', async () => {
    const [jobId, other] = [newId(), newId()];
    const places = Array.from({ length: 600 }, (_, at) => ({
      ...{ id: `${jobId}/${at}`, path: `${jobId}/pages_1`, offset: at, length: 9 },
    }));
    const [first, second] = places as [KeptPageLocation, KeptPageLocation];
    const kept = { ...first, id: `${other}/0` };
    await stores.store.pagePlaces.writeAll([...places, kept]);
    await stores.other.pagePlaces.writeAll([{ ...first, path: `${jobId}/pages_2` }]);
    const find = async (...ids: string[]) =>
      (await stores.other.pagePlaces.find({ id: { in: ids } })).sort(
        (one, another) => one.offset - another.offset,
      );
    expect(await find(first.id, second.id, `${jobId}/x`)).toEqual([first, second]);
    expect(await find()).toEqual([]);
    await removePagePlaces(stores.store, jobId);
    expect(await find(...places.map(({ id }) => id), kept.id)).toEqual([kept]);
  });

  test('replaces an ended job by its summary and deletes its batches and deliveries', async () => {
    const userId = newId();
    const job = await storeEnded(stores.store, aTime, { userId, number: 900_001 }, 120);
    const delivery = aDelivery({ jobId: job.id });
    await stores.store.deliveries.insert(delivery);
    const summary = aDeletedJob(job);
    expect(await stores.store.jobs.delete(job.id, summary)).toBe(true);
    expect(await stores.other.jobs.get(job.id)).toBeNull();
    expect(await stores.other.jobs.find({ number: 900_001 })).toEqual([]);
    expect(await collect(stores.other.batches.read(job.id))).toEqual([]);
    expect(await findUnit(stores.other, job.id, '0/0')).toBeNull();
    const { items } = await stores.other.deliveries.list({ userId: null }, { limit: 100 });
    expect(items.map(({ id }) => id)).not.toContain(delivery.id);
    expect(await stores.other.deletedJobs.get(job.id)).toEqual(summary);
    expect(await stores.other.jobs.delete(job.id, { ...summary, cost: 1 })).toBe(false);
    expect(await stores.other.deletedJobs.get(job.id)).toEqual(summary);
  });

  test('does not delete a job that has not ended', async () => {
    const { job, batches } = await storeJob(stores.store, 1, { state: 'processing' });
    expect(await stores.store.jobs.delete(job.id, aDeletedJob(job))).toBe(false);
    expect(await stores.store.deletedJobs.get(job.id)).toBeNull();
    expect(await collect(stores.store.batches.read(job.id))).toEqual(batches);
  });

  test('concurrent deletions delete a job once', async () => {
    const job = await storeEnded(stores.store, aTime, {}, 60);
    const results = await runConcurrently(6, stores, (store) =>
      store.jobs.delete(job.id, aDeletedJob(job)),
    );
    expect(results.filter(Boolean).length).toBeGreaterThanOrEqual(1);
    expect(await stores.store.jobs.get(job.id)).toBeNull();
    expect(await collect(stores.store.batches.read(job.id))).toEqual([]);
  });

  test('refuses a new job with the id of a deleted one', async () => {
    const job = await storeEnded(stores.store, aTime);
    await stores.store.jobs.delete(job.id, aDeletedJob(job));
    const conflict = expect.objectContaining({ code: 'conflict' });
    await expect(stores.other.jobs.create(aJob({ id: job.id }), [])).rejects.toEqual(conflict);
    expect(await stores.store.jobs.get(job.id)).toBeNull();
  });
}
