import { originPolicy, requestsAtOnce } from './policy.ts';
import type { PoliteOptions, PolitePages } from './polite.ts';

/**
 * Creates the pages of a process whose units are read by other processes: it knows how many requests an origin takes,
 * and loads nothing that fetches. A visit throws.
 */
export function createPagesElsewhere({
  origins,
  policyOf,
}: Pick<PoliteOptions, 'origins' | 'policyOf'>): PolitePages {
  return {
    visit(market) {
      throw new Error(`Pages of ${market} are not read in this process.`);
    },
    concurrency: (market) => requestsAtOnce(originPolicy(policyOf(market), origins.get(market))),
    async close() {},
  };
}
