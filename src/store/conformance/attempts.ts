import { expect, test } from 'vitest';
import type { Batch } from '../batches.ts';
import { releaseBatch, releaseStalled, updateClaim } from '../claims.ts';
import { aFailure, aSegment, aSuccess, aTime, storeClaimedBatch } from './samples.ts';
import { collect, type OpenStores, setUpStores } from './stores.ts';

/** Count of claims without progress, and the unit that is read in isolation. */
export function attemptConformance(open: OpenStores): void {
  const stores = setUpStores(open);
  const reread = async (batch: Batch): Promise<Batch> =>
    (await collect(stores.store.batches.read(batch.jobId))).find(({ id }) => id === batch.id)!;
  /** Takes over the claim of a dead worker; each claim lasts 60 s. */
  const takeOver = (batch: Batch, attempt: number) => {
    const now = aTime + attempt * 100_000;
    return stores.store.batches.claim(batch, attempt, now, now + 60_000);
  };

  test('claims without an outcome are counted', async () => {
    const batch = await storeClaimedBatch(stores.store, 3);
    expect(batch).toMatchObject({ attempt: 1, stalledClaims: 1, isolated: null });
    expect(await takeOver(batch, 1)).toMatchObject({ attempt: 2, stalledClaims: 2 });
    expect(await takeOver(batch, 2)).toMatchObject({ attempt: 3, stalledClaims: 3 });
  });

  test('a new outcome lowers the count to 3 and never clears it, a repeated or empty write does not', async () => {
    const batch = await storeClaimedBatch(stores.store, 3);
    await stores.store.batches.recordOutcomes(batch, 1, { outcomes: { 2: aFailure } });
    expect(await reread(batch)).toMatchObject({ stalledClaims: 1 });
    for (let attempt = 1; attempt < 5; attempt += 1) await takeOver(batch, attempt);
    await stores.store.batches.recordOutcomes(batch, 5, { outcomes: {} });
    expect(await reread(batch)).toMatchObject({ stalledClaims: 5 });
    await stores.store.batches.recordOutcomes(batch, 5, {
      outcomes: { 1: aSuccess(5) },
      segment: aSegment('j/p1', 1),
    });
    expect(await reread(batch)).toMatchObject({ stalledClaims: 3 });
    expect(await takeOver(batch, 5)).toMatchObject({ attempt: 6, stalledClaims: 4 });
    await stores.store.batches.recordOutcomes(batch, 6, { outcomes: { 1: aFailure } });
    expect(await reread(batch)).toMatchObject({ stalledClaims: 4 });
    // An outcome of a superseded worker is not progress.
    await stores.store.batches.recordOutcomes(batch, 5, { outcomes: { 0: aFailure } });
    expect(await reread(batch)).toMatchObject({ stalledClaims: 4 });
  });

  test('a released claim does not count, a claim released after a failure does', async () => {
    const batch = await storeClaimedBatch(stores.store, 1);
    await updateClaim(
      stores.store,
      { ...batch, attempt: 1 },
      { isolated: { index: 0, starts: 1 } },
    );
    expect(
      await releaseBatch(stores.store, { ...batch, attempt: 1 }, aTime, { failed: true }),
    ).toBe(true);
    const again = await stores.store.batches.claim(batch, 1, aTime, aTime + 1);
    const isolated = { index: 0, starts: 0, failures: 1 };
    expect(again).toMatchObject({ attempt: 2, stalledClaims: 2, isolated });
    expect(await releaseBatch(stores.store, { ...batch, attempt: 2 }, aTime)).toBe(true);
    const fresh = await stores.store.batches.claim(batch, 2, aTime, aTime + 1);
    expect(fresh).toMatchObject({ attempt: 3, stalledClaims: 2, isolated });
  });

  test('a stalled unit has failed, and is isolated, whatever became of its claim', async () => {
    const batch = await storeClaimedBatch(stores.store, 3);
    const stalled = (attempt: number, index: number) =>
      releaseStalled(stores.store, { ...batch, attempt }, index, aTime);
    expect(await stalled(1, 2)).toBe(true);
    const first = { index: 2, starts: 0, failures: 1 };
    expect(await reread(batch)).toMatchObject({
      state: 'queued',
      stalledClaims: 1,
      isolated: first,
    });
    await stores.store.batches.claim(batch, 1, aTime, aTime + 60_000);
    await updateClaim(
      stores.store,
      { ...batch, attempt: 2 },
      { isolated: { ...first, starts: 1 } },
    );
    await takeOver(batch, 2);
    expect(await stalled(2, 2)).toBe(false);
    const second = { index: 2, starts: 0, failures: 2 };
    expect(await reread(batch)).toMatchObject({ state: 'claimed', attempt: 3, isolated: second });
    expect(await stalled(3, 1)).toBe(true);
    expect(await reread(batch)).toMatchObject({ isolated: { index: 1, starts: 0, failures: 1 } });
    expect(
      await releaseStalled(stores.store, { id: 'none', jobId: 'none', attempt: 1 }, 0, aTime),
    ).toBe(false);
  });

  test('a claim that expired does not count if its worker ended for another reason', async () => {
    const batch = await storeClaimedBatch(stores.store, 1);
    await stores.store.batches.requeueStalled(aTime + 999_999, aTime, 10);
    const claim = { ...batch, attempt: 1 };
    expect(await releaseBatch(stores.store, claim, aTime)).toBe(false);
    expect(await releaseBatch(stores.store, claim, aTime, { expired: true })).toBe(true);
    expect(await reread(batch)).toMatchObject({ state: 'queued', stalledClaims: 0 });
    await stores.store.batches.claim(batch, 1, aTime, aTime + 1);
    expect(await releaseBatch(stores.store, claim, aTime, { expired: true })).toBe(false);
    expect(
      await releaseBatch(stores.store, { ...claim, attempt: 2 }, aTime, { unseen: true }),
    ).toBe(true);
    expect(await reread(batch)).toMatchObject({ stalledClaims: 1, isolated: null });
  });

  test('a unit read in isolation is stored only under the claim of its attempt', async () => {
    const batch = await storeClaimedBatch(stores.store, 3);
    expect(
      await updateClaim(
        stores.store,
        { ...batch, attempt: 0 },
        { isolated: { index: 2, starts: 1 } },
      ),
    ).toBe(false);
    expect(
      await updateClaim(
        stores.other,
        { ...batch, attempt: 1 },
        { isolated: { index: 2, starts: 1 } },
      ),
    ).toBe(true);
    await stores.store.batches.recordOutcomes(batch, 1, { outcomes: { 0: aFailure } });
    expect(await takeOver(batch, 1)).toMatchObject({
      stalledClaims: 2,
      isolated: { index: 2, starts: 1 },
    });
    expect(
      await updateClaim(
        stores.store,
        { ...batch, attempt: 1 },
        { isolated: { index: 2, starts: 2 } },
      ),
    ).toBe(false);
    expect(
      await updateClaim(
        stores.store,
        { ...batch, attempt: 2 },
        { isolated: { index: 2, starts: 2 } },
      ),
    ).toBe(true);
    expect(await reread(batch)).toMatchObject({ isolated: { index: 2, starts: 2 } });
    const all = { 0: aFailure, 1: aFailure, 2: aFailure };
    await stores.store.batches.recordOutcomes(batch, 2, {
      outcomes: all,
      end: { file: null, at: aTime },
    });
    expect(
      await updateClaim(
        stores.store,
        { ...batch, attempt: 2 },
        { isolated: { index: 2, starts: 3 } },
      ),
    ).toBe(false);
  });
}
