import type { Clock } from '../base/clock.ts';
import type { Config } from '../base/config.ts';
import type { Log } from '../base/log.ts';
import { createBrowserFetcher } from '../fetch/browser/fetcher.ts';
import { chooseFetcher } from '../fetch/choose.ts';
import { createHttpFetcher } from '../fetch/http.ts';
import { createPageMemory } from '../fetch/page-memory.ts';
import { createPolitePages, type PolitePages } from '../fetch/polite.ts';
import type { RequestWatch } from '../fetch/request-watch.ts';
import { limitsOfMarket, policyOfMarket } from '../markets/defaults.ts';
import type { Store } from '../store/store.ts';

/** Options for openFetching(). */
export interface FetchingOptions {
  config: Pick<Config, 'origins' | 'userAgent' | 'browser' | 'pageMemoryBytes'>;
  /** Store of the rate limits shared by all workers. */
  store: Store;
  clock: Clock;
  log: Log;
  /** Called for every request. */
  watch?: RequestWatch;
}

/** Page access and its connections. */
export interface Fetching {
  pages: PolitePages;
  close(): Promise<void>;
}

/** Opens page access with the configured proxies, browser, and origin policies. */
export function openFetching({ config, store, clock, log, watch }: FetchingOptions): Fetching {
  const { origins, userAgent } = config;
  const { path, ...browserLimits } = config.browser;
  const fetcher = chooseFetcher(origins, {
    http: createHttpFetcher({
      origins,
      clock,
      log,
      userAgent,
      maxPageBytes: (market) => limitsOfMarket(market).pageBytes,
    }),
    browser: createBrowserFetcher({ origins, clock, log, userAgent, path, limits: browserLimits }),
  });
  const pages = createPolitePages({
    fetcher,
    origins,
    clock,
    log,
    store,
    userAgent,
    limitsOf: limitsOfMarket,
    policyOf: policyOfMarket,
    memory: createPageMemory({ maxBytes: config.pageMemoryBytes, clock }),
    ...(watch ? { watch } : {}),
  });
  return {
    pages,
    async close() {
      await pages.close();
      await fetcher.close();
    },
  };
}
