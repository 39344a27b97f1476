import { processDue, repeat } from '../base/due-work.ts';
import { Fault } from '../contract/fault.ts';
import { Permits } from '../fetch/permits.ts';
import { postponeDelivery, recordAttempt } from '../store/deliveries.ts';
import type { Delivery } from '../store/documents.ts';
import { announceJobs, announceSchedules } from './announce.ts';
import type { NotifyContext } from './context.ts';
import {
  type AcquireDelivery,
  createReceiverQueues,
  maxConcurrency,
  maxHeld,
} from './receiver-queues.ts';
import { attempt, receiverKey } from './send.ts';
import { ClaimLost, leaseMs } from './send-file.ts';

/** Permits for deliveries, which all processes share. */
export interface DeliveryPermits {
  acquire: AcquireDelivery;
  /** Releases the permits of this process. */
  close(): Promise<void>;
}

/**
 * Creates this process's permits for deliveries: at most `maxConcurrency` per receiver over all
 * processes, by leases in the store as for origins. Waiting calls reject once `signal` is aborted.
 */
function createDeliveryPermits(
  { store, clock, newId }: NotifyContext,
  signal: AbortSignal,
): DeliveryPermits {
  const holder = newId();
  const receivers = new Map<string, Permits>();
  const permitsOf = (receiver: string): Permits => {
    const current = receivers.get(receiver);
    if (current !== undefined) return current;
    for (const [name, permits] of receivers) if (permits.isIdle) receivers.delete(name);
    const created = new Permits({
      origin: `notify:${receiver}`,
      holder,
      limit: maxConcurrency,
      lease: store.origins.lease,
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

/** Interval between polls for due messages. */
const pollMs = 1_000;
/** Deliveries claimed per query, and time for the claims of one poll. */
const claimSize = 100;
const maxPollMs = 10_000;
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
  const queues = createReceiverQueues(clock, permits.acquire);

  /** Attempts a delivery; returns false unless the receiver is known to have accepted it. */
  const send = async (delivery: Delivery): Promise<boolean> => {
    const { id, type, jobId, channel } = delivery;
    try {
      const end = await attempt(context, delivery, stopping.signal);
      await recordAttempt(store, delivery, end);
      metrics.add('gleaner_deliveries_total', {
        outcome: end.state === 'pending' ? 'retried' : end.state,
      });
      const line = {
        deliveryId: id,
        type,
        jobId,
        channel,
        state: end.state,
      };
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

  const postpone = async (delivery: Delivery, ms: number) => {
    // If this fails, the lease expires and the delivery is retried all the same.
    await postponeDelivery(store, delivery, clock.steady() + ms).catch(() => {});
  };

  const sendDue = (signal: AbortSignal) =>
    processDue<Delivery>(
      {
        claim: (limit) => {
          const now = clock.steady();
          return store.deliveries.claimDue(
            now,
            now + leaseMs,
            Math.min(limit, maxHeld - queues.held()),
          );
        },
        claimSize,
        concurrency: 1,
        maxMs: maxPollMs,
        // The queue of the receiver sends it.
        process: (delivery) =>
          queues.add(receiverKey(delivery), {
            run: () => send(delivery),
            postpone: (ms) => postpone(delivery, ms),
          }),
        onError: (_delivery, error) => {
          throw error;
        },
      },
      clock,
      signal,
    );

  const round = async (signal: AbortSignal) => {
    await announceJobs(context, signal);
    await announceSchedules(context, signal);
    await sendDue(signal);
  };

  const onError = (error: unknown, failures: number) => {
    const { code, message } = Fault.from(error);
    if (code !== 'unavailable') log.error({ err: error }, 'notification poll failed');
    else if (failures === 1)
      log.warn({ error: message }, 'notifications paused: store unavailable');
  };

  return {
    poll: () => round(stopping.signal).catch((error) => onError(error, 1)),
    idle: () => queues.idle(),
    async run(signal) {
      await repeat(() => round(signal), { clock, intervalMs: pollMs, onError }, signal);
      const grace = new AbortController();
      await queues.clear();
      await Promise.race([queues.idle(), clock.sleep(graceMs, grace.signal).catch(() => {})]);
      grace.abort();
      stopping.abort(new Error('the service is stopping'));
      await queues.idle();
      await permits.close();
    },
  };
}
