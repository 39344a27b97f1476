import { setImmediate as yieldToEventLoop } from 'node:timers/promises';
import { Fault } from '../contract/fault.ts';
import type { Delivery } from '../store/documents.ts';
import { announce } from './announce.ts';
import { announceSchedules } from './announce-schedules.ts';
import { ClaimLost, leaseMs } from './claim.ts';
import type { NotifyContext } from './context.ts';
import { createDeliveryPermits } from './delivery-permits.ts';
import { createLanes, maxHeld } from './lanes.ts';
import { attempt, receiverOf } from './send.ts';

/** Interval between polls for due messages. */
const pollMs = 1_000;
/** Deliveries claimed per query. */
const claimSize = 100;
/** Time that deliveries in progress have to finish when the process stops. */
const graceMs = 1_500;

/** Creates and sends the messages that are due. */
export interface Notifier {
  /** Creates the deliveries that are due and starts sending them. Logs store errors. */
  poll(): Promise<void>;
  /** Resolves when no delivery is in progress. */
  idle(): Promise<void>;
  /** Polls until the signal is aborted, then postpones unfinished deliveries. */
  run(signal: AbortSignal): Promise<void>;
}

/** Creates the notifier of a process. Several processes may share a store. */
export function createNotifier(context: NotifyContext): Notifier {
  const { store, clock, log, metrics } = context;
  const stopping = new AbortController();
  const permits = createDeliveryPermits(context, stopping.signal);
  const lanes = createLanes(clock, permits.acquire);
  let storeUnavailable = false;

  /** Attempts a delivery; returns false unless the receiver is known to have accepted it. */
  const send = async (delivery: Delivery): Promise<boolean> => {
    const { id, take, type, jobId, channel } = delivery;
    try {
      const end = await attempt(context, delivery, stopping.signal);
      await store.recordAttempt(id, take, end);
      metrics.add('gleaner_deliveries_total', { outcome: end.state === 'pending' ? 'retried' : end.state });
      const line = { deliveryId: id, type, jobId, channel, state: end.state };
      if (end.state === 'delivered')
        log.info(line, channel === 'file' ? 'file delivered' : 'message delivered');
      else log.warn({ ...line, error: end.error }, 'delivery failed');
      return end.state === 'delivered';
    } catch (error) {
      if (stopping.signal.aborted) await postpone(delivery, 0);
      else if (error instanceof ClaimLost) log.info({ deliveryId: id }, 'claim lost');
      // The store is unavailable. When the lease expires, any process retries the delivery.
      else log.warn({ deliveryId: id, err: error }, 'delivery interrupted');
      return false;
    }
  };

  const postpone = async ({ id, take }: Delivery, ms: number) => {
    // If this fails, the lease expires and the delivery is retried all the same.
    await store.postponeDelivery(id, take, clock.now() + ms).catch(() => {});
  };

  const sendDue = async (signal: AbortSignal) => {
    while (!signal.aborted) {
      const limit = Math.min(claimSize, maxHeld - lanes.held());
      const now = clock.now();
      const taken = await store.claimDeliveries(now, now + leaseMs, limit);
      for (const delivery of taken) {
        await lanes.add(receiverOf(delivery), {
          run: () => send(delivery),
          postpone: (ms) => postpone(delivery, ms),
        });
      }
      if (taken.length < limit || limit === 0) return;
      await yieldToEventLoop();
    }
  };

  const poll = async (signal: AbortSignal) => {
    try {
      await announce(context, signal);
      await announceSchedules(context, signal);
      await sendDue(signal);
      storeUnavailable = false;
    } catch (error) {
      const fault = Fault.from(error);
      if (fault.code !== 'unavailable') log.error({ err: error }, 'notification poll failed');
      else if (!storeUnavailable)
        log.warn({ error: fault.message }, 'notifications paused: store unavailable');
      storeUnavailable = fault.code === 'unavailable';
    }
  };

  return {
    poll: () => poll(stopping.signal),
    idle: () => lanes.idle(),
    async run(signal) {
      while (!signal.aborted) {
        await poll(signal);
        await clock.sleep(pollMs, signal).catch(() => {});
      }
      const grace = new AbortController();
      await lanes.clear();
      await Promise.race([lanes.idle(), clock.sleep(graceMs, grace.signal).catch(() => {})]);
      grace.abort();
      stopping.abort(new Error('the service is stopping'));
      await lanes.idle();
      await permits.close();
    },
  };
}
