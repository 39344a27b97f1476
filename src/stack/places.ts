import type { Origins } from '../base/origins.ts';
import {
  type FetchMethod,
  maxConcurrency,
  type OriginPolicy,
  originPolicy,
} from '../fetch/policy.ts';
import { sandboxQueue } from '../jobs/sandbox.ts';
import { policyOfMarket, storeMarkets } from '../markets/lookup.ts';
import type { PlaceOf } from '../queue/queue.ts';

/** What one process can do: requests per second, and the duration of fast ones in seconds. */
const capacity: Record<FetchMethod, { requestsPerSecond: number; fastSeconds: number }> = {
  http: { requestsPerSecond: 100, fastSeconds: 0.05 },
  // Four pages at once, of half a second to two seconds.
  browser: { requestsPerSecond: 2, fastSeconds: 0.5 },
};
/**
 * More processes that share the limits of an origin would write its state more often than they use
 * it.
 */
const maxOwners = 64;

/**
 * Returns the number of processes that ask an origin: one unless its limits allow more requests per
 * second than a process can send.
 */
export function ownersOf(policy: OriginPolicy): number {
  const { requestsPerSecond, fastSeconds } = capacity[policy.fetch];
  const allowed = Math.min(policy.requestsPerSecond, maxConcurrency(policy) / fastSeconds);
  return Math.min(maxOwners, Math.max(1, Math.ceil(allowed / requestsPerSecond)));
}

/**
 * Returns the places of messages: the regions of markets, and the stores that callers name. The
 * batches of the sandbox, which asks no origin, have none.
 */
export const createPlaces =
  (origins: Origins): PlaceOf =>
  ({ market, region, store }) => {
    const origin = storeMarkets.includes(market) ? store : region;
    if (market === sandboxQueue) return null;
    // A message of several units names no store, as they can belong to different ones.
    if (origin === undefined) return null;
    const policy = originPolicy(policyOfMarket(market, region), origins.get(market));
    return { name: `${market}/${origin}`, owners: ownersOf(policy) };
  };
