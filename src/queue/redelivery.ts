import { Fault } from '../base/fault.ts';

const firstDelayMs = 1_000;
const longestDelayMs = 30_000;
/** Deliveries after which a message that keeps breaking its handler is let go. */
const mostDeliveries = 5;

/**
 * When a message comes again whose handler rejected with `thrown` on its `deliveries`-th delivery
 * (from 1): a delay in milliseconds that doubles from 1 s up to 30 s, or null when the queue gives
 * the message up. An engine that is down (`unavailable`) says nothing about the message, so that is
 * tried without end; any other rejection is the message's own, and five of them are enough. The
 * store still has the batch of a message given up, and the sweep publishes it again.
 */
export function redeliveryDelayMs(thrown: unknown, deliveries: number): number | null {
  if (Fault.from(thrown).code !== 'unavailable' && deliveries >= mostDeliveries) return null;
  return Math.min(firstDelayMs * 2 ** (deliveries - 1), longestDelayMs);
}
