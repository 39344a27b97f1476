import { expect, test } from 'vitest';
import { newId } from '../../base/id.ts';
import type { BatchWait } from '../waits.ts';
import { aTime } from './samples.ts';
import { type OpenStores, runConcurrently, setUpStores } from './stores.ts';

/** Batches that wait for an origin. */
export function waitContract(open: OpenStores): void {
  const stores = setUpStores(open);
  const aWait = (fields: Partial<BatchWait> = {}): BatchWait => ({
    batchId: newId(),
    jobId: newId(),
    since: aTime,
    until: aTime + 500.5,
    reason: 'mkta/id: blocked ☃ (page_blocked)',
    tries: {},
    failures: 3,
    ...fields,
  });

  test('a wait is stored, and replaces an earlier one', async () => {
    const wait = aWait({ tries: { 0: 3, 49: 1 } });
    expect(await stores.store.getWait(wait.batchId)).toBeNull();
    await stores.store.putWait(wait);
    expect(await stores.other.getWait(wait.batchId)).toEqual(wait);
    const later = { ...wait, until: aTime + 900, reason: 'x', tries: { 7: 2 } };
    await stores.other.putWait(later);
    expect(await stores.store.getWait(wait.batchId)).toEqual(later);
  });

  test('one of several concurrent waits remains', async () => {
    const wait = aWait();
    await runConcurrently(20, stores, (store, turn) => store.putWait({ ...wait, until: aTime + turn }));
    expect(await stores.store.getWait(wait.batchId)).toMatchObject({ jobId: wait.jobId });
  });

  test('waits of a job are listed until they end, earliest end first', async () => {
    const jobId = newId();
    const [late, soon] = [aWait({ jobId, until: aTime + 90 }), aWait({ jobId, until: aTime + 10 })];
    for (const wait of [late, soon, aWait()]) await stores.store.putWait(wait);
    expect(await stores.store.listWaits(jobId, aTime + 9)).toEqual([soon, late]);
    expect(await stores.store.listWaits(jobId, aTime + 10)).toEqual([late]);
    expect(await stores.store.listWaits(jobId, aTime + 90)).toEqual([]);
  });

  test('removed and expired waits are not listed', async () => {
    const [dropped, over, lasting] = [
      aWait(),
      aWait({ until: aTime - 9_001 }),
      aWait({ until: aTime - 9_000 }),
    ];
    for (const wait of [dropped, over, lasting]) await stores.store.putWait(wait);
    await stores.other.deleteWait(dropped.batchId);
    await stores.other.deleteWait(dropped.batchId);
    expect(await stores.store.expire({ waits: aTime - 9_000 })).toBe(1);
    const left = await Promise.all(
      [dropped, over, lasting].map(({ batchId }) => stores.store.getWait(batchId)),
    );
    expect(left).toEqual([null, null, lasting]);
  });
}
