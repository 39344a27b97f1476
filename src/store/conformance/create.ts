import { expect, test } from 'vitest';
import { newId } from '../../base/id.ts';
import { countsOf, findUnit } from '../batch-store.ts';
import type { Batch, Unit } from '../batches.ts';
import type { Job } from '../documents.ts';
import { findJobByNumber } from '../jobs.ts';
import { aBatch, aJob, aTime, someBatches, storeJob, units } from './samples.ts';
import { collect, type OpenStores, runConcurrently, setUpStores } from './stores.ts';

/** Batches, followed by a process failure. */
function* breakingAfter(count: number, batches: Batch[]): Generator<Batch> {
  yield* batches.slice(0, count);
  throw new Error('the process died');
}

/** Creation and removal of jobs. */
export function createConformance(open: OpenStores): void {
  const stores = setUpStores(open);

  test('a job and its batches are returned as they were stored', async () => {
    const file = { path: 'a/b', contentType: 'text/plain', items: 1, bytes: 2, sha256: 'ff' };
    const job = aJob({
      number: 4_100_000,
      region: '',
      reason: '“because” $',
      decidedBy: newId(),
      decideBy: aTime,
      startedAt: aTime,
      finishedAt: aTime,
      file,
      options: { maxCredits: 0 },
      params: { $where: '1', 'a.b': { '': [null, true, 1.5, { $set: {} }] }, 雪: '☃' },
    });
    const strange: Unit[] = [
      {
        key: 'https://x.example/a?b=$c.d#\u00e9',
        input: { 'a.b': 1, $inc: { x: [] }, '': null, __proto: 'p' },
      },
      { key: '', input: JSON.parse('{"__proto__": {"a": 1}, "constructor": 2, "0": "\\u0000"}') },
    ];
    const batches = [aBatch(job, 0, strange, { region: 'th' }), aBatch(job, 1)];
    await stores.store.jobs.create(job, batches);
    expect(await stores.other.jobs.get(job.id)).toEqual(job);
    expect(await findJobByNumber(stores.store, 4_100_000)).toEqual(job);
    const read = await collect(stores.store.batches.read(job.id));
    expect(read).toEqual(batches);
    // Also covers what toEqual ignores, such as an own key `__proto__`.
    const inputs = (those: Batch[]) => JSON.stringify(those.flatMap((batch) => batch.units));
    expect(inputs(read)).toBe(inputs(batches));
  });

  test('a second call changes nothing, even with other batch ids and after the job has progressed', async () => {
    const { job, batches } = await storeJob(stores.store, 3);
    await stores.store.batches.queue(job.id, 1, aTime);
    await stores.store.jobs.move(job.id, ['submitted'], 'processing', aTime + 1);
    const before = await collect(stores.store.batches.read(job.id));
    await stores.store.jobs.create(job, batches);
    await stores.other.jobs.create({ ...job, cost: 1 }, someBatches(job, 3));
    expect(await collect(stores.store.batches.read(job.id))).toEqual(before);
    expect(await stores.store.jobs.get(job.id)).toEqual({
      ...job,
      state: 'processing',
      stateSince: aTime + 1,
      dueAt: aTime + 1,
    });
  });

  test('concurrent calls for the same job write it once and completely', async () => {
    const job = aJob({ totalBatches: 120, totalUnits: 240 });
    const batches = someBatches(job, 120);
    await runConcurrently(4, stores, (store) => store.jobs.create(job, batches));
    expect(await stores.store.jobs.get(job.id)).toEqual(job);
    expect(await collect(stores.store.batches.read(job.id))).toEqual(batches);
  });

  test('a writer overtaken by another leaves the job in its current state', async () => {
    const job = aJob({ totalBatches: 120, totalUnits: 240 });
    const batches = someBatches(job, 120);
    const move = () => stores.other.jobs.move(job.id, ['submitted'], 'processing', aTime + 1);
    const first = stores.other.jobs.create(job, batches).then(move);
    await stores.store.jobs.create(job, batches);
    const moved = { ...job, state: 'processing', stateSince: aTime + 1, dueAt: aTime + 1 };
    expect(await first).toEqual(moved);
    expect(await stores.store.jobs.get(job.id)).toEqual(moved);
    expect(await collect(stores.store.batches.read(job.id))).toEqual(batches);
  });

  test('a partly written job is invisible until a second call completes it', async () => {
    const job = aJob({ totalBatches: 150, totalUnits: 300, number: 4_100_001 });
    const batches = someBatches(job, 150);
    const broken = stores.store.jobs.create(job, breakingAfter(130, batches));
    await expect(broken).rejects.toThrow('the process died');
    expect(await stores.other.jobs.get(job.id)).toBeNull();
    expect(await findJobByNumber(stores.other, 4_100_001)).toBeNull();
    const { jobs } = stores.store;
    const where = { userId: job.userId };
    expect((await jobs.list(where, { limit: 5 })).items).toEqual([]);
    expect(await jobs.find({ id: { in: [job.id] } })).toEqual([]);
    expect(await jobs.find({ ...where, state: { not: 'failed' } })).toEqual([]);
    expect(await jobs.pick(where, ['state'])).toBeNull();
    expect(await jobs.count(where, 5)).toBe(0);
    expect(await jobs.countBy(where, ['state'])).toEqual([]);
    expect(await jobs.update({ id: job.id }, { reason: 'x' })).toBeNull();
    expect(await stores.store.jobs.delete(job.id, null)).toBe(false);
    expect(await stores.store.jobs.move(job.id, ['submitted'], 'processing', aTime)).toBeNull();
    await stores.other.jobs.create(job, batches);
    expect(await stores.store.jobs.get(job.id)).toEqual(job);
    expect(await collect(stores.store.batches.read(job.id))).toEqual(batches);
  });

  test('orphans are deleted, complete and recent jobs are not, and a deleted job can be written again', async () => {
    const { job: whole } = await storeJob(stores.store, 2, { createdAt: aTime - 1_000 });
    const job = aJob({ createdAt: aTime - 1_000, totalBatches: 150, totalUnits: 300 });
    const batches = someBatches(job, 150);
    await expect(stores.store.jobs.create(job, breakingAfter(149, batches))).rejects.toThrow();
    expect(await stores.store.jobs.deleteOrphanedBatches(aTime - 1_000)).toBe(0);
    const removed = await stores.store.jobs.deleteOrphanedBatches(aTime - 999);
    expect(removed).toBeGreaterThanOrEqual(100);
    expect(removed).toBeLessThan(150);
    expect(await stores.store.jobs.deleteOrphanedBatches(aTime - 999)).toBe(0);
    expect((await countsOf(stores.store, job.id)).units.total).toBe(0);
    expect(await findUnit(stores.store, job.id, '0/0')).toBeNull();
    expect((await countsOf(stores.store, whole.id)).units.total).toBe(4);
    await stores.store.jobs.create(job, batches);
    expect(await collect(stores.store.batches.read(job.id))).toEqual(batches);
  });

  test('a writer overtaken by the deletion of orphans fails and leaves no job', async () => {
    const job = aJob({ createdAt: aTime - 5_000, totalBatches: 400, totalUnits: 800 });
    let removal: Promise<number> | undefined;
    function* overtaken(): Generator<Batch> {
      for (const batch of someBatches(job, 400)) {
        if (batch.seq === 250) removal = stores.other.jobs.deleteOrphanedBatches(aTime - 4_999);
        yield batch;
      }
    }
    const writing = stores.store.jobs.create(job, overtaken()).then(
      () => 'written',
      (thrown) => thrown.code,
    );
    const outcome = await writing;
    await removal;
    // If the deletion comes a moment late, the job is complete. It is never partly written.
    const seen = await stores.store.jobs.get(job.id);
    const { batches } = await countsOf(stores.store, job.id);
    const possible = [
      ['unavailable', null, 0],
      ['written', job, 400],
    ];
    expect(possible).toContainEqual([outcome, seen, batches.total]);
  });

  test("a writer overtaken by a deletion and by another writer does not complete the other's job", async () => {
    const job = aJob({ createdAt: aTime - 9_000, totalBatches: 400, totalUnits: 800 });
    const all = someBatches(job, 400);
    let meanwhile: Promise<unknown> | undefined;
    function* overtaken(): Generator<Batch> {
      for (const batch of all) {
        if (batch.seq === 250) {
          meanwhile = Promise.allSettled([
            stores.other.jobs.deleteOrphanedBatches(aTime - 8_999),
            stores.other.jobs.create(job, breakingAfter(210, all)),
          ]);
        }
        yield batch;
      }
    }
    await stores.store.jobs
      .create(job, overtaken())
      .catch((thrown) => expect(thrown.code).toBe('unavailable'));
    await meanwhile;
    const seen = await stores.store.jobs.get(job.id);
    if (seen) expect((await countsOf(stores.store, job.id)).batches.total).toBe(400);
    await stores.store.jobs.create(job, all);
    expect(await stores.store.jobs.get(job.id)).toEqual(job);
    expect(await collect(stores.store.batches.read(job.id))).toEqual(all);
  });

  test('delete() without a summary deletes a discarding job with its batches, and no other job', async () => {
    const { job } = await storeJob(stores.store, 3);
    expect(await stores.other.jobs.delete(job.id, null)).toBe(false);
    await stores.store.jobs.move(job.id, ['submitted'], 'discarding', aTime);
    expect(await stores.other.jobs.delete(job.id, null)).toBe(true);
    expect(await stores.store.jobs.get(job.id)).toBeNull();
    expect(await stores.store.batches.find({ jobId: job.id })).toEqual([]);
    expect(await findUnit(stores.store, job.id, '0/0')).toBeNull();
    expect(await stores.store.jobs.delete(job.id, null)).toBe(false);
    const { job: kept } = await storeJob(stores.store, 1, { state: 'awaiting_approval' });
    expect(await stores.store.jobs.delete(kept.id, null)).toBe(false);
    expect(await stores.store.jobs.get(kept.id)).toEqual(kept);
  });

  test('a job number already in use is a conflict', async () => {
    const first: Job = aJob({ number: 4_100_002 });
    await stores.store.jobs.create(first, someBatches(first, 1));
    const second: Job = aJob({ number: 4_100_002 });
    const keeping = stores.store.jobs.create(second, someBatches(second, 1));
    await expect(keeping).rejects.toMatchObject({ code: 'conflict' });
    expect(await findJobByNumber(stores.store, 4_100_002)).toEqual(first);
    expect(await stores.store.jobs.get(second.id)).toBeNull();
  });

  test('50,000 units are consumed while they are written, without blocking the event loop', async () => {
    const job = aJob({ totalBatches: 1_000, totalUnits: 50_000 });
    let made = 0;
    function* source(): Generator<Batch> {
      for (let seq = 0; seq < 1_000; seq += 1) {
        made += 1;
        yield aBatch(job, seq, units(50, `${seq}/`));
      }
    }
    const seenByOthers = new Set<number>();
    let writing = true;
    const look = () => {
      seenByOthers.add(made);
      if (writing) setImmediate(look);
    };
    look();
    await stores.store.jobs.create(job, source());
    writing = false;
    expect(seenByOthers.size).toBeGreaterThanOrEqual(8);
    const counts = await countsOf(stores.store, job.id);
    expect(counts.units).toEqual({ total: 50_000, success: 0, failed: 0 });
    expect(counts.batches.total).toBe(1_000);
    const found = await findUnit(stores.store, job.id, '777/49');
    expect([found?.batch.seq, found?.index]).toEqual([777, 49]);
  });
}
