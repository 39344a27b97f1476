import { expect, test } from 'vitest';
import { firstWait } from '../batch-store.ts';
import type { Batch, BatchWait } from '../batches.ts';
import { releaseBatch, updateClaim } from '../claims.ts';
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
    expect(
      await releaseBatch(stores.store, { ...batch, attempt: 1 }, aTime, { wait: aWait() }),
    ).toBe(true);
    expect(await stores.other.batches.claim(batch, 1, aTime, lease)).toMatchObject({
      wait: aWait(),
    });
    expect(await releaseBatch(stores.store, { ...batch, attempt: 2 }, aTime)).toBe(true);
    expect((await stores.store.batches.claim(batch, 2, aTime, lease))!.wait).toEqual(aWait());
    const later = aWait({ until: aTime + 900, reason: 'x', tries: { 7: 2 } });
    expect(
      await releaseBatch(stores.store, { ...batch, attempt: 3 }, aTime, {
        wait: later,
        failed: true,
      }),
    ).toBe(true);
    expect((await reread(batch)).wait).toEqual(later);
  });

  test('a wait is set and removed only under the claim of its attempt', async () => {
    const batch = await storeClaimedBatch(stores.store, 2);
    expect(await updateClaim(stores.store, { ...batch, attempt: 1 }, { wait: aWait() })).toBe(true);
    expect(
      await updateClaim(
        stores.other,
        { ...batch, attempt: 0 },
        { wait: aWait({ reason: 'late' }) },
      ),
    ).toBe(false);
    expect(
      await releaseBatch(stores.other, { ...batch, attempt: 0 }, aTime, {
        wait: aWait({ reason: 'late' }),
      }),
    ).toBe(false);
    expect((await reread(batch)).wait).toEqual(aWait());
    await stores.store.batches.recordOutcomes(batch, 1, { outcomes: { 0: aFailure } });
    expect((await reread(batch)).wait).toEqual(aWait());
    expect(await updateClaim(stores.store, { ...batch, attempt: 1 }, { wait: null })).toBe(true);
    await releaseBatch(stores.store, { ...batch, attempt: 1 }, aTime);
    expect(await updateClaim(stores.store, { ...batch, attempt: 1 }, { wait: aWait() })).toBe(
      false,
    );
    expect((await reread(batch)).wait).toBeNull();
  });

  test.each(['its worker', 'its job'])('a batch that %s ends waits no longer', async (who) => {
    const batch = await storeClaimedBatch(stores.store, 1);
    await updateClaim(stores.store, { ...batch, attempt: 1 }, { wait: aWait() });
    if (who === 'its job')
      await stores.store.batches.fail(batch.jobId, ['claimed'], aFailure, aTime);
    else
      await stores.store.batches.recordOutcomes(batch, 1, {
        outcomes: { 0: aSuccess() },
        segment: aSegment('p', 0),
        end: { file: null, at: aTime },
      });
    expect(await reread(batch)).toMatchObject({ state: 'done', wait: null });
    expect(await firstWait(stores.store, batch.jobId, 0)).toBeNull();
  });

  test('firstWait() returns the wait of a job that ends first, until it ends', async () => {
    const { job, batches } = await storeJob(stores.store, 3);
    const other = await storeClaimedBatch(stores.store, 1);
    await updateClaim(stores.store, { ...other, attempt: 1 }, { wait: aWait() });
    const [late, soon] = [aWait({ until: aTime + 90 }), aWait({ until: aTime + 10 })];
    await stores.store.batches.queue(job.id, 3, aTime);
    for (const [seq, wait] of [late, soon].entries()) {
      await stores.store.batches.claim(batches[seq]!, 0, aTime, lease);
      await releaseBatch(stores.store, { ...batches[seq]!, attempt: 1 }, wait.until, { wait });
    }
    expect(await firstWait(stores.store, job.id, aTime + 9)).toEqual(soon);
    expect(await firstWait(stores.store, job.id, aTime + 10)).toEqual(late);
    expect(await firstWait(stores.store, job.id, aTime + 90)).toBeNull();
  });
}
