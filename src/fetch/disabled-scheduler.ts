import type { OriginScheduler, OriginSchedulerOptions } from './origin-scheduler.ts';
import { maxConcurrency, originPolicy } from './policy.ts';

/**
 * Creates the scheduler of a process that fetches no pages. It returns the concurrency of origins;
 * `openSession` throws. It has its own file so that such a process loads no fetching code.
 */
export function createDisabledScheduler({
  origins,
  policyOf,
}: Pick<OriginSchedulerOptions, 'origins' | 'policyOf'>): OriginScheduler {
  return {
    openSession(market) {
      throw new Error(`This process fetches no pages of ${market}.`);
    },
    concurrency: (market, region) =>
      maxConcurrency(originPolicy(policyOf(market, region), origins.get(market))),
    records: { add() {}, remove() {}, isFull: false },
    beginUrgent: () => () => {},
    async close() {},
  };
}
