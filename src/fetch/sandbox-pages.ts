import type { Clock } from '../base/clock.ts';
import type { Log } from '../base/log.ts';
import type { MarketOrigins, Origins } from '../base/origins.ts';
import { storeOrigin } from './address.ts';
import {
  type AcquireOptions,
  type ConcurrencyLimit,
  createConcurrencyLimit,
} from './concurrency-limit.ts';
import {
  atOriginOf,
  createFetchSession,
  type FetchSession,
  followRedirects,
} from './fetch-session.ts';
import { createHttpFetcher, type Fetcher } from './http.ts';
import type { MarketLimits } from './limits.ts';
import type { OriginThrottle } from './origin-throttle.ts';
import type { FetchPage } from './page.ts';
import type { PageMemory } from './page-memory.ts';

/** Addresses of the fake marketplaces, by market and region. */
export type SandboxAddresses = Readonly<Record<string, Readonly<Record<string, string>>>>;

/** Options for createSandboxPages(). */
export interface SandboxPagesOptions {
  /**
   * Returns the current addresses, and starts the fake marketplaces if they are not running. Throws
   * `unavailable`.
   */
  addresses(): Promise<SandboxAddresses>;
  clock: Clock;
  log: Log;
  userAgent: string;
  limitsOf(market: string): MarketLimits;
  /** Memory of the process for pages. */
  memory: PageMemory;
}

/** Access of test jobs to the fake marketplaces. It has no way to any other address. */
export interface SandboxPages {
  openSession(
    market: string,
    region: string,
    signal: AbortSignal,
    acquire: AcquireOptions,
  ): FetchSession & { retryMs: number };
  close(): Promise<void>;
}

/**
 * Delay between the attempts at a unit, in milliseconds: a test should not wait for the back-offs
 * of real sites.
 */
const retryMs = 100;

/** Time after which a response that stalls fails, in milliseconds. */
const idleMs = 2_000;

/**
 * Pages of test jobs that a process reads at a time, so that they leave its processor time to live
 * jobs.
 */
const maxPages = 8;

/** Decoded bytes of all pages of a test unit: enough for a listing of some thousand products. */
const maxUnitBytes = 8 * 1024 ** 2;

/** The fake marketplaces are never paused, so that no test affects another. */
const createThrottle = ({ acquire }: ConcurrencyLimit): OriginThrottle => ({
  permits: { acquire, demand: 0, isIdle: true, isAlone: true, close: async () => {} },
  tokens: { take: async () => {}, clear: () => {}, setInterval: () => {} },
  circuit: {
    paused: false,
    closed: true,
    wait: async () => {},
    admit: async () => false,
    record: async () => {},
    update: () => {},
  },
  slowDown: () => {},
  apply: () => {},
});

/**
 * Creates access to the fake marketplaces. A request goes to the address of its market and region,
 * whatever store or redirect it names, so that no input reaches another origin.
 */
export function createSandboxPages(options: SandboxPagesOptions): SandboxPages {
  const { clock, log, memory } = options;
  const limitsOf = (market: string) => {
    const limits = options.limitsOf(market);
    return { ...limits, unitBytes: Math.min(limits.unitBytes, maxUnitBytes) };
  };
  const fetcher = createSandboxFetcher(options);
  const throttle = createThrottle(createConcurrencyLimit(maxPages));
  return {
    openSession: (market, region, signal, acquire) => {
      const { fetch, end } = createFetchSession({
        market,
        region,
        signal,
        acquire,
        share: memory.share(),
        limits: limitsOf(market),
        fetcher,
        throttleOf: () => throttle,
        observer: undefined,
        clock,
        log,
      });
      return { fetch: followRedirects(fetch), end, retryMs };
    },
    close: fetcher.close,
  };
}

function createSandboxFetcher({
  addresses,
  clock,
  log,
  userAgent,
  limitsOf,
}: SandboxPagesOptions): Fetcher {
  let current: { addresses: SandboxAddresses; http: Fetcher } | null = null;
  const httpFetcher = async (): Promise<Fetcher> => {
    const found = await addresses();
    if (current?.addresses !== found) {
      const earlier = current?.http;
      const http = createHttpFetcher({
        origins: originsOf(found),
        clock,
        log,
        userAgent,
        limits: { idleMs },
        maxPageBytes: (market) => limitsOf(market).pageBytes,
      });
      current = { addresses: found, http };
      await earlier?.close();
    }
    return current.http;
  };
  return {
    for: (market, region, signal, share): FetchPage => {
      const fetch = atOriginOf(async (request) => {
        const http = await httpFetcher();
        // Regions that operators declare have the pages of the first one.
        const regions = Object.keys(current!.addresses[market] ?? {});
        const sandboxRegion = regions.includes(region) ? region : (regions[0] ?? region);
        return http.for(market, sandboxRegion, signal, share)(request);
      });
      return async (request) => {
        // Checks a store that a caller names, except for the resolution of its host.
        if (request.origin !== undefined) storeOrigin(request.origin, false);
        return fetch(request);
      };
    },
    originOf: (market, region) => `sandbox:${market}/${region}`,
    discardSession: (market, region) => current?.http.discardSession(market, region),
    close: async () => {
      await current?.http.close();
    },
  };
}

const originsOf = (addresses: SandboxAddresses): Origins =>
  new Map(
    Object.entries(addresses).map(([market, byRegion]): [string, MarketOrigins] => [
      market,
      {
        addresses: new Map(Object.entries(byRegion)),
        positions: new Map(),
        fetch: 'http',
        concurrency: undefined,
        requestsPerSecond: undefined,
        hosts: undefined,
        allowPrivate: false,
        robots: false,
        proxy: undefined,
        sign: false,
      },
    ]),
  );
