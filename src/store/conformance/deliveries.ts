import { expect, test } from 'vitest';
import { newId } from '../../base/id.ts';
import { type AttemptResult, postponeDelivery, recordAttempt, redeliver } from '../deliveries.ts';
import { aDelivery, aTime } from './samples.ts';
import { type OpenStores, setUpStores } from './stores.ts';

const delivered = (endedAt: number): AttemptResult => ({
  target: 'https://receiver.test/hook',
  responseStatus: 204,
  error: '',
  state: 'delivered',
  nextAttemptAt: null,
  endedAt,
});

/** Attempts at deliveries. */
export function deliveryConformance(open: OpenStores): void {
  const stores = setUpStores(open);
  const taken = async () => {
    await stores.store.deliveries.insert(aDelivery({ nextAttemptAt: 1, userId: newId() }));
    return (await stores.store.deliveries.claimDue(1, aTime + 100, 1))[0]!;
  };
  const claimAt = (now: number) => stores.store.deliveries.claimDue(now, now + 1_000, 5);

  test('only the current claim ends an attempt, and an ended delivery is final', async () => {
    const delivery = await taken();
    const later: AttemptResult = {
      target: 'https://moved.test/',
      responseStatus: 503,
      error: 'HTTP 503',
      state: 'pending',
      nextAttemptAt: aTime + 40,
      endedAt: null,
    };
    expect(await recordAttempt(stores.other, { ...delivery, revision: 0 }, delivered(aTime))).toBe(
      false,
    );
    expect(await recordAttempt(stores.other, delivery, later)).toBe(true);
    expect(await stores.store.deliveries.get(delivery.id)).toEqual({
      ...delivery,
      ...later,
      attempts: 1,
    });
    const [again] = await claimAt(aTime + 40);
    expect(again).toMatchObject({ id: delivery.id, revision: 2, attempts: 1 });
    expect(await recordAttempt(stores.store, delivery, later)).toBe(false);
    expect(await recordAttempt(stores.store, again!, delivered(aTime + 50))).toBe(true);
    expect(await recordAttempt(stores.store, again!, later)).toBe(false);
    expect(await postponeDelivery(stores.store, again!, aTime)).toBe(false);
    const end = { ...delivered(aTime + 50), attempts: 2 };
    expect(await stores.other.deliveries.get(delivery.id)).toMatchObject(end);
    expect(await claimAt(aTime + 1_000_000)).toEqual([]);
  });

  test('a postponed delivery is due later without counting an attempt', async () => {
    const delivery = await taken();
    expect(await postponeDelivery(stores.other, { ...delivery, revision: 0 }, aTime + 7)).toBe(
      false,
    );
    expect(await postponeDelivery(stores.other, delivery, aTime + 7)).toBe(true);
    expect(await claimAt(aTime + 6)).toEqual([]);
    const [again] = await claimAt(aTime + 7);
    expect(again).toEqual({ ...delivery, revision: 2, nextAttemptAt: aTime + 1_007 });
    await recordAttempt(stores.store, again!, delivered(aTime + 8));
  });

  test('a redelivery starts over, only for its own user, and supersedes earlier claims', async () => {
    const delivery = await taken();
    const { id } = delivery;
    await recordAttempt(stores.store, delivery, delivered(aTime + 8));
    expect(await redeliver(stores.store, newId(), aTime + 9)).toBeNull();
    expect(await redeliver(stores.store, id, aTime + 9, newId())).toBeNull();
    const again = await redeliver(stores.other, id, aTime + 9, delivery.userId!);
    expect(again).toMatchObject({
      state: 'pending',
      attempts: 1,
      attemptsBefore: 1,
      nextAttemptAt: aTime + 9,
      endedAt: null,
    });
    expect(await recordAttempt(stores.store, delivery, delivered(aTime + 9))).toBe(false);
    const [claim] = await claimAt(aTime + 9);
    expect(claim).toMatchObject({ id });
    expect(await redeliver(stores.other, id, aTime + 10)).toMatchObject({ id });
    expect(await recordAttempt(stores.store, claim!, delivered(aTime + 11))).toBe(false);
  });
}
