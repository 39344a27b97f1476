import type { CookieData } from 'puppeteer-core';
import type { Clock } from '../../base/clock.ts';
import type { Log } from '../../base/log.ts';
import type { Origins } from '../../base/origins.ts';
import { Fault } from '../../contract/fault.ts';
import type { ResolveName } from '../address.ts';
import type { Fetcher } from '../http.ts';
import { originFinder } from '../origin-of.ts';
import { createKept, type Visited } from '../sessions.ts';
import type { Tab } from './launch.ts';
import { openingOf } from './opening.ts';
import { createPool, type Engine, type PoolLimits } from './pool.ts';
import { connectThrough } from './proxied.ts';
import { defaultVisitLimits, type VisitLimits, visit } from './visit.ts';

/** What the fetcher is made of. */
export interface BrowserFetcherOptions {
  origins: Origins;
  clock: Clock;
  log: Log;
  /** Added to the browser's own User-Agent. */
  userAgent: string;
  /** Path of a Chromium; null: there is none, and every fetch says so. */
  path: string | null;
  limits?: Partial<VisitLimits & PoolLimits>;
  /** Resolves names; `dns.lookup` when absent. */
  resolve?: ResolveName;
}

/** What holds where nothing else is set. */
const defaultPoolLimits: PoolLimits = {
  pages: 4,
  contexts: 12,
  contextPages: 200,
  contextMs: 30 * 60_000,
  enginePages: 2_000,
  memoryBytes: 1_536 * 1024 ** 2,
  memoryCheckMs: 2_000,
  idleMs: 120_000,
};

function missing(): Fault {
  return new Fault(
    'browser_missing',
    'the origins file says "fetch": "browser" for this market, and there is no browser: ' +
      'install Chromium (Debian: apt-get install chromium) or set GLEANER_BROWSER to its path',
  );
}

/**
 * Makes the fetcher that opens pages in a browser: for markets whose data only the pages' own scripts
 * can ask for. The browser is started with the first page. A visitor's cookies hold for a market's region
 * and origin as long as the process lives, unless they are forgotten or the browser crashes.
 */
export function createBrowserFetcher(options: BrowserFetcherOptions): Fetcher {
  const { origins, clock, log, path, resolve } = options;
  const limits = { ...defaultVisitLimits, ...defaultPoolLimits, ...options.limits };
  const originOf = originFinder(origins);
  const cookies = createKept<CookieData[]>((kept) => 2 * JSON.stringify(kept).length);
  const rules = ({ market, origin }: Visited) => {
    const settings = origins.get(market);
    // An origin of ours is reachable wherever it is; a store named by a caller on the public internet.
    const configured = settings?.addresses.values().some((address) => address === origin) ?? false;
    const proxies = settings?.proxies ?? [];
    const connect = proxies.length > 0 ? connectThrough(proxies, clock) : undefined;
    return {
      origin: configured ? origin : null,
      allowPrivate: settings?.allowPrivate ?? false,
      resolve,
      connect,
    };
  };

  const launch = async (): Promise<Engine<Tab>> => {
    if (path === null) throw missing();
    // Not loaded where no page is opened.
    const { launchBrowser } = await import('./launch.ts');
    const engine = await launchBrowser({ path, rules, cookies, userAgent: options.userAgent });
    log.info({ path }, 'browser started');
    return engine;
  };
  const pool = createPool(launch, limits, clock, log);

  return {
    originOf,
    for: (market, region, signal, share) => async (request) => {
      signal?.throwIfAborted();
      const origin = originOf(market, region, request);
      if (request.page === undefined && request.method === 'POST') {
        throw new Fault('invalid', `no page is known whose scripts ask for ${request.path}`);
      }
      const opening = openingOf(request, origin);
      try {
        const task = (tab: Tab) => visit(tab, opening, limits, signal);
        const seen = await pool.use({ market, region, origin }, task, signal);
        await share?.reserve(seen.body.length, signal);
        return { ...seen, at: clock.now() };
      } catch (error) {
        if (signal?.aborted) throw signal.reason;
        const fault = Fault.from(error);
        log.debug({ market, region, url: opening.url, code: fault.code, err: fault.cause }, fault.message);
        throw fault;
      }
    },
    forget: (market, region) => {
      cookies.drop(market, region);
      pool.drop(market, region);
    },
    close: () => pool.close(),
  };
}
