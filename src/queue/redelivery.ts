import { backOffMs } from '../base/back-off.ts';
import { Fault } from '../contract/fault.ts';

const backOff = { firstMs: 1_000, maxMs: 30_000 };
/** Maximum deliveries of a message whose handler keeps failing; then it is dropped. */
const maxDeliveries = 5;

/**
 * Returns the delay before the redelivery of a message whose handler rejected with `thrown` on
 * delivery number `deliveries` (from 1): 1 s, doubling up to 30 s. Returns null after five
 * rejections; the message is then dropped, and the sweep republishes its batch. Rejections with
 * `unavailable` say nothing about the message and are retried without limit.
 */
export function redeliveryDelayMs(thrown: unknown, deliveries: number): number | null {
  if (Fault.from(thrown).code !== 'unavailable' && deliveries >= maxDeliveries) return null;
  return backOffMs(backOff, deliveries, 0);
}
