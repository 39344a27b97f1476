import { expect, test } from 'vitest';
import type { Batch, BatchWait } from '../batches.ts';
import { aFailure, aSegment, aSuccess, aTime, storeClaimedBatch, storeJob } from './samples.ts';
import { collect, type OpenStores, setUpStores } from './stores.ts';

/** Waits of batches whose pages cannot be read now. */
export function waitConformance(open: OpenStores): void {
  const stores = setUpStores(open);
  const aWait = (fields: Partial<BatchWait> = {}): BatchWait => ({
    since: aTime,
    until: aTime + 500.5,
    reason: 'mkta/id: blocked ☃ (page_blocked)',
    tries: { 0: 3, 49: 1 },
    failures: 3,
    ...fields,
  });
  const reread = async ({ jobId, id }: Batch): Promise<Batch> =>
    (await collect(stores.store.batches.read(jobId))).find((batch) => batch.id === id)!;
  const lease = aTime + 60_000;

  test('a release stores the wait, which the next claim returns, and a later wait replaces it', async () => {
    const batch = await storeClaimedBatch(stores.store, 2);
    expect(batch.wait).toBeNull();
    expect(await stores.store.batches.release(batch.id, 1, aTime, { wait: aWait() })).toBe(true);
    expect(await stores.other.batches.claim(batch.id, 1, aTime, lease)).toMatchObject({ wait: aWait() });
    expect(await stores.store.batches.release(batch.id, 2, aTime)).toBe(true);
    expect((await stores.store.batches.claim(batch.id, 2, aTime, lease))!.wait).toEqual(aWait());
    const later = aWait({ until: aTime + 900, reason: 'x', tries: { 7: 2 } });
    expect(await stores.store.batches.release(batch.id, 3, aTime, { wait: later, failed: true })).toBe(true);
    expect((await reread(batch)).wait).toEqual(later);
  });

  test('a wait is set and removed only under the claim of its attempt', async () => {
    const batch = await storeClaimedBatch(stores.store, 2);
    expect(await stores.store.batches.update(batch.id, 1, { wait: aWait() })).toBe(true);
    expect(await stores.other.batches.update(batch.id, 0, { wait: aWait({ reason: 'late' }) })).toBe(false);
    expect(await stores.other.batches.release(batch.id, 0, aTime, { wait: aWait({ reason: 'late' }) })).toBe(
      false,
    );
    expect((await reread(batch)).wait).toEqual(aWait());
    await stores.store.batches.recordOutcomes(batch.id, 1, { outcomes: { 0: aFailure } });
    expect((await reread(batch)).wait).toEqual(aWait());
    expect(await stores.store.batches.update(batch.id, 1, { wait: null })).toBe(true);
    await stores.store.batches.release(batch.id, 1, aTime);
    expect(await stores.store.batches.update(batch.id, 1, { wait: aWait() })).toBe(false);
    expect((await reread(batch)).wait).toBeNull();
  });

  test.each(['its worker', 'its job'])('a batch that %s ends waits no longer', async (who) => {
    const batch = await storeClaimedBatch(stores.store, 1);
    await stores.store.batches.update(batch.id, 1, { wait: aWait() });
    if (who === 'its job') await stores.store.batches.fail(batch.jobId, ['claimed'], aFailure, aTime);
    else
      await stores.store.batches.recordOutcomes(batch.id, 1, {
        outcomes: { 0: aSuccess() },
        segment: aSegment('p', 0),
        end: { file: null, at: aTime },
      });
    expect(await reread(batch)).toMatchObject({ state: 'done', wait: null });
    expect(await stores.store.batches.listWaits(batch.jobId, 0)).toEqual([]);
  });

  test('waits of a job are listed until they end, earliest end first', async () => {
    const { job, batches } = await storeJob(stores.store, 3);
    const other = await storeClaimedBatch(stores.store, 1);
    await stores.store.batches.update(other.id, 1, { wait: aWait() });
    const [late, soon] = [aWait({ until: aTime + 90 }), aWait({ until: aTime + 10 })];
    await stores.store.batches.queue(job.id, 3, aTime);
    for (const [seq, wait] of [late, soon].entries()) {
      await stores.store.batches.claim(batches[seq]!.id, 0, aTime, lease);
      await stores.store.batches.release(batches[seq]!.id, 1, wait.until, { wait });
    }
    expect(await stores.store.batches.listWaits(job.id, aTime + 9)).toEqual([soon, late]);
    expect(await stores.store.batches.listWaits(job.id, aTime + 10)).toEqual([late]);
    expect(await stores.store.batches.listWaits(job.id, aTime + 90)).toEqual([]);
  });
}
