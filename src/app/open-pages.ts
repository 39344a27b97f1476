import type { Config } from '../base/config.ts';
import type { OriginScheduler, OriginSchedulerOptions } from '../fetch/origin-scheduler.ts';
import { maxConcurrency, originPolicy } from '../fetch/policy.ts';
import type { Pages } from '../jobs/context.ts';
import { policyOfMarket } from '../markets/lookup.ts';
import { meterRequests, type RequestCounter } from '../operations/request-counter.ts';
import type { Metrics } from '../telemetry/metrics.ts';
import type { Fetching, FetchingOptions } from './open-fetching.ts';

/** Returns the observers of requests to sites, and of pages in browsers. */
export function pageObservers(
  requestCounter: RequestCounter,
  metrics: Metrics,
): Pick<FetchingOptions, 'observer' | 'onDefect'> {
  return {
    observer: meterRequests(requestCounter, metrics),
    onDefect: (market, defect) => metrics.add('gleaner_browser_defects_total', { market, defect }),
  };
}

/** Opens page access for units. Loads the HTTP client only when it is needed. */
export async function openPages(
  readsPages: boolean,
  options: FetchingOptions & { config: Pick<Config, 'sandbox'> },
): Promise<Pick<Fetching, 'close'> & { pages: Pages }> {
  if (readsPages) {
    const { openFetching, withSandbox } = await import('./open-fetching.ts');
    const fetching = await openFetching(options);
    const { userAgent, sandbox } = options.config;
    return sandbox ? withSandbox(fetching, { ...options, userAgent }) : fetching;
  }
  return {
    pages: createDisabledScheduler({ origins: options.config.origins, policyOf: policyOfMarket }),
    async close() {},
  };
}

/**
 * Creates the scheduler of a process that fetches no pages. It returns the concurrency of origins;
 * `openSession` throws.
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
