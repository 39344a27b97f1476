import type { Config } from '../base/config.ts';
import { browserUrlsOf } from '../base/origins.ts';
import { type BrowserFetcherOptions, createBrowserFetcher } from '../fetch/browser/fetcher.ts';
import { createHttpFetcher, type Fetcher } from '../fetch/http.ts';
import {
  createOriginScheduler,
  type OriginScheduler,
  type OriginSchedulerOptions,
} from '../fetch/origin-scheduler.ts';
import { createPageMemory, type PageMemory } from '../fetch/page-memory.ts';
import { type FetchMethod, originPolicy } from '../fetch/policy.ts';
import { createSandboxPages, type SandboxPagesOptions } from '../fetch/sandbox-pages.ts';
import type { Pages } from '../jobs/context.ts';
import { limitsOfMarket, policyOfMarket } from '../markets/lookup.ts';
import type { Store } from '../store/store.ts';
import { openBotIdentity } from './bot-identity.ts';
import { createSandboxProcess } from './sandbox.ts';
import { traceFetcher } from './telemetry.ts';

export interface FetchingOptions
  extends Pick<OriginSchedulerOptions, 'clock' | 'log' | 'observer' | 'holder'>,
    Pick<BrowserFetcherOptions, 'onDefect'> {
  config: Pick<
    Config,
    | 'origins'
    | 'userAgent'
    | 'browser'
    | 'browserUrls'
    | 'limits'
    | 'exportsTraces'
    | 'linkSecrets'
    | 'dataDir'
    | 'publicUrl'
  >;
  /** Store of the limits that all workers share. */
  store: Store;
}

/** Access to origins, and the connections behind it. */
export interface Fetching {
  pages: OriginScheduler;
  memory: PageMemory;
  close(): Promise<void>;
}

/** Creates the fetchers and the scheduler for a configuration. */
export async function openFetching(options: FetchingOptions): Promise<Fetching> {
  const { config, store, clock, log, observer, holder, onDefect } = options;
  const { origins, userAgent, limits } = config;
  const isSigned = origins.values().some(({ sign }) => sign);
  const identity = isSigned ? await openBotIdentity(config, clock) : null;
  const browserLimits = { pages: limits.browserPages, memoryBytes: limits.browserMemoryBytes };
  const methodOf = (market: string, region: string) =>
    originPolicy(policyOfMarket(market, region), origins.get(market)).fetch;
  const untraced = createMarketFetcher(methodOf, {
    http: createHttpFetcher({
      origins,
      clock,
      log,
      userAgent,
      maxPageBytes: (market) => limitsOfMarket(market).pageBytes,
      signRequest: identity?.signRequest,
    }),
    browser: createBrowserFetcher({
      origins,
      clock,
      log,
      userAgent,
      path: config.browser,
      urlsOf: (market) => browserUrlsOf(config, market),
      limits: browserLimits,
      onDefect,
    }),
  });
  const fetcher = config.exportsTraces ? traceFetcher(untraced) : untraced;
  const memory = createPageMemory({ maxBytes: limits.pageMemoryBytes, clock });
  const pages = createOriginScheduler({
    fetcher,
    origins,
    clock,
    log,
    store,
    userAgent,
    limitsOf: limitsOfMarket,
    policyOf: policyOfMarket,
    memory,
    observer,
    holder,
  });
  return {
    pages,
    memory,
    async close() {
      await pages.close();
      await fetcher.close();
    },
  };
}

type SandboxOptions = Omit<SandboxPagesOptions, 'addresses' | 'limitsOf' | 'memory'>;

/**
 * Adds access to the sandbox to a process that reads pages: units of test jobs read its fake
 * marketplaces, all others the origins. The fake marketplaces run in a child process from the first
 * test unit until `close()`. They end with this process, however it ends.
 */
export function withSandbox(
  { pages, memory, close }: Omit<Fetching, 'pages'> & { pages: Pages },
  options: SandboxOptions,
): { pages: Pages; close: Fetching['close'] } {
  const marketplaces = createSandboxProcess(options.log);
  const sandbox = createSandboxPages({
    ...options,
    memory,
    addresses: marketplaces.addresses,
    limitsOf: limitsOfMarket,
  });
  return {
    pages: {
      ...pages,
      openSession: (market, region, signal, caller) =>
        caller.mode === 'test'
          ? sandbox.openSession(market, region, signal, caller)
          : pages.openSession(market, region, signal, caller),
    },
    async close() {
      await close();
      await sandbox.close();
      await marketplaces.stop();
    },
  };
}

/** Creates a fetcher that uses the method of each market and region: plain HTTP, or a browser. */
export function createMarketFetcher(
  methodOf: (market: string, region: string) => FetchMethod,
  fetchers: Readonly<Record<FetchMethod, Fetcher>>,
): Fetcher {
  const fetcherOf = (market: string, region: string) => fetchers[methodOf(market, region)];
  return {
    for: (market, region, signal, share) =>
      fetcherOf(market, region).for(market, region, signal, share),
    originOf: (market, region, request) =>
      fetcherOf(market, region).originOf(market, region, request),
    discardSession: (market, region) => fetcherOf(market, region).discardSession(market, region),
    close: async () => {
      await Promise.all(Object.values(fetchers).map((fetcher) => fetcher.close()));
    },
  };
}
