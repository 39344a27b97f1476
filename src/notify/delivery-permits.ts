import { createPermits, type Permits } from '../fetch/permits.ts';
import type { NotifyContext } from './context.ts';
import { type AcquireDelivery, maxConcurrency } from './lanes.ts';

/** Permits for deliveries, which all processes share. */
export interface DeliveryPermits {
  acquire: AcquireDelivery;
  /** Releases the permits of this process. */
  close(): Promise<void>;
}

/**
 * Creates this process's permits for deliveries: at most `maxConcurrency` per receiver over all processes, by leases in the
 * store as for origins. Waiting calls reject once `signal` is aborted.
 */
export function createDeliveryPermits(
  { store, clock, newId }: Pick<NotifyContext, 'store' | 'clock' | 'newId'>,
  signal: AbortSignal,
): DeliveryPermits {
  const holder = newId();
  const receivers = new Map<string, Permits>();
  const permitsOf = (receiver: string): Permits => {
    const known = receivers.get(receiver);
    if (known !== undefined) return known;
    for (const [name, permits] of receivers) if (permits.isIdle) receivers.delete(name);
    const created = createPermits({
      origin: `notify:${receiver}`,
      holder,
      limit: maxConcurrency,
      lease: store.leasePermits,
      onPauseRead: () => {},
      clock,
    });
    receivers.set(receiver, created);
    return created;
  };
  return {
    acquire: (receiver) => permitsOf(receiver).acquire(signal),
    async close() {
      await Promise.all(receivers.values().map((permits) => permits.close()));
    },
  };
}
