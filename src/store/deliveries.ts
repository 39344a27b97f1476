import type { Collections } from './collections.ts';
import type { Delivery } from './documents.ts';

type Deliveries = Pick<Collections, 'deliveries'>;

/** Result of a delivery attempt: the time of the next attempt, or the end. */
export type AttemptResult = Pick<Delivery, 'target' | 'responseStatus' | 'error'> &
  (
    | { state: 'pending'; nextAttemptAt: number; endedAt: null }
    | { state: 'delivered' | 'failed'; nextAttemptAt: null; endedAt: number }
  );

/** Returns the conditions of a delivery whose claim is not lost. */
const claimed = ({ id, revision }: Pick<Delivery, 'id' | 'revision'>) => ({
  id,
  revision,
  state: 'pending' as const,
});

/** Records the result of an attempt. Returns false if the claim was lost. */
export async function recordAttempt(
  { deliveries }: Deliveries,
  delivery: Pick<Delivery, 'id' | 'revision'>,
  { target, responseStatus, error, state, nextAttemptAt, endedAt }: AttemptResult,
): Promise<boolean> {
  const change = {
    target,
    responseStatus,
    error,
    state,
    nextAttemptAt,
    endedAt,
  };
  return (await deliveries.update(claimed(delivery), change, { add: { attempts: 1 } })) !== null;
}

/**
 * Sets the time at which a claimed delivery is due again, which releases it or extends the claim.
 * Returns false if the claim was lost.
 */
export async function postponeDelivery(
  { deliveries }: Deliveries,
  delivery: Pick<Delivery, 'id' | 'revision'>,
  until: number,
): Promise<boolean> {
  return (await deliveries.update(claimed(delivery), { nextAttemptAt: until })) !== null;
}

/**
 * Makes a delivery pending and due at `now`, with a new series of attempts. Returns null if there
 * is no delivery with this id or, with `userId`, if it belongs to another user.
 */
export async function redeliver(
  { deliveries }: Deliveries,
  id: string,
  now: number,
  userId?: string,
): Promise<Delivery | null> {
  for (;;) {
    const found = await deliveries.get(id);
    if (found === null || (userId !== undefined && found.userId !== userId)) return null;
    const { attempts, revision } = found;
    const again = await deliveries.update(
      { id, attempts, revision },
      {
        state: 'pending',
        attemptsBefore: attempts,
        nextAttemptAt: now,
        endedAt: null,
      },
      { add: { revision: 1 } },
    );
    // An attempt ended between the two operations: read again.
    if (again !== null) return again;
  }
}
