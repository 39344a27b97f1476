import type { Clock } from '../../base/clock.ts';
import { repeat } from '../../base/due-work.ts';
import { postponeDelivery } from '../../store/deliveries.ts';
import type { Delivery } from '../../store/documents.ts';
import type { Store } from '../../store/store.ts';

/** Duration of a claim on a delivery, in milliseconds: longer than any attempt to send a message takes. */
export const leaseMs = 120_000;

/** Reason of the abort of an attempt whose delivery another process has claimed. */
export class ClaimLost extends Error {
  constructor() {
    super('another process has claimed the delivery');
    this.name = 'ClaimLost';
  }
}

/**
 * Runs an attempt that may take longer than a claim. Extends the claim until the attempt ends, and aborts the
 * attempt with a ClaimLost if the claim is lost.
 */
export async function keepClaim<T>(
  { store, clock }: { store: Pick<Store, 'deliveries'>; clock: Clock },
  delivery: Pick<Delivery, 'id' | 'take'>,
  signal: AbortSignal,
  attempt: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const losing = new AbortController();
  const ending = new AbortController();
  const extend = async () => {
    if (!(await postponeDelivery(store, delivery, clock.now() + leaseMs))) losing.abort(new ClaimLost());
  };
  // While the store is unavailable, the claim expires, and a later write finds that it was lost.
  const onError = () => {};
  const options = { clock, intervalMs: leaseMs / 3, startsLate: true, onError };
  const extending = repeat(extend, options, ending.signal);
  try {
    return await attempt(AbortSignal.any([signal, losing.signal]));
  } finally {
    ending.abort(new Error('the attempt has ended'));
    await extending;
  }
}
