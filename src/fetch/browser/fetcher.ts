import type { CookieData } from 'puppeteer-core';
import { Fault } from '../../contract/fault.ts';
import {
  createScopedCache,
  hasTooManyCookies,
  type ScopedCache,
  type SessionScope,
} from '../cookie-store.ts';
import type { Fetcher, HttpFetcherOptions } from '../http.ts';
import { createOriginResolver } from '../origin-resolver.ts';
import type { PageRequest } from '../page.ts';
import { BrowserGroup } from './browser-group.ts';
import type { BrowserProcess, PoolLimits } from './browser-process.ts';
import type { EgressRules } from './egress.ts';
import { loadPage } from './load-page.ts';
import { defaultPageLoadLimits, type PageLoadLimits } from './page-load-limits.ts';
import { planPage } from './page-plan.ts';
import { BrowserPool } from './pool.ts';
import type { Tab } from './tab.ts';

/**
 * Defect of a page: a response came from the cache and was requested again, or the document did not
 * show in time what its reader expects.
 */
export type PageDefect = 'cached' | 'pending';

/** Options for createBrowserFetcher(). */
export interface BrowserFetcherOptions
  extends Pick<HttpFetcherOptions, 'origins' | 'clock' | 'log' | 'resolve'> {
  /** Text appended to the browser's own User-Agent. */
  userAgent: string;
  /**
   * Path of the Chromium executable. Null if there is none, which fails every fetch with
   * `browser_missing`.
   */
  path: string | null;
  /**
   * Returns the DevTools addresses of the browsers that load a market's pages, instead of starting
   * one. None by default.
   */
  urlsOf?: ((market: string) => readonly string[]) | undefined;
  limits?: Partial<PageLoadLimits & PoolLimits>;
  /** Counts the defects of a market's pages. */
  onDefect?: ((market: string, defect: PageDefect) => void) | undefined;
}

const defaultPoolLimits: PoolLimits = {
  pages: 4,
  contexts: 12,
  contextPages: 200,
  contextMs: 30 * 60_000,
  browserPages: 2_000,
  memoryBytes: 1_536 * 1024 ** 2,
  memoryCheckMs: 2_000,
  idleMs: 120_000,
};

function browserMissing(): Fault {
  return new Fault(
    'browser_missing',
    '"fetch": "browser" is set for these pages, but no browser was found: ' +
      'install Chromium (Debian: apt-get install chromium) or set GLEANER_BROWSER to its path',
  );
}

/**
 * Creates a fetcher that loads pages in a browser, for markets whose data only the pages' own
 * scripts can request. The first page starts the browser. Cookies last per market, region, and
 * origin until the process ends, unless they are discarded or the browser crashes.
 */
export function createBrowserFetcher(options: BrowserFetcherOptions): Fetcher {
  const { origins, clock, log, onDefect } = options;
  const limits = { ...defaultPageLoadLimits, ...defaultPoolLimits, ...options.limits };
  const resolveOrigin = createOriginResolver(origins);
  const cookies = createScopedCache<CookieData[]>((values) => 2 * JSON.stringify(values).length);
  const poolOf = (start: () => Promise<BrowserProcess<Tab>>) =>
    new BrowserPool(start, limits, clock, log);
  const own = new BrowserGroup([poolOf(() => launch(options, cookies))], clock);
  const groups = new Map<string, BrowserGroup<Tab>>([['', own]]);
  const urlsOf = options.urlsOf ?? (() => []);

  const groupOf = (market: string): BrowserGroup<Tab> => {
    const urls = urlsOf(market);
    const key = urls.join(' ');
    const pools = () => urls.map((url) => poolOf(() => connect(url, options, cookies)));
    const group = groups.get(key) ?? new BrowserGroup(pools(), clock);
    groups.set(key, group);
    return group;
  };
  const discardSession = (market: string, region: string) => {
    cookies.drop(market, region);
    for (const group of groups.values()) group.drop(market, region);
  };

  return {
    originOf: resolveOrigin,
    for: (market, region, signal, share) => async (request) => {
      signal?.throwIfAborted();
      const origin = resolveOrigin(market, region, request);
      checkRequest(request, origin, urlsOf(market).length > 0);
      const plan = planPage(request, origin);
      try {
        const onCached = (url: string) => {
          log.warn({ market, region, url }, 'cached response discarded');
          onDefect?.(market, 'cached');
        };
        const task = async (tab: Tab) => {
          const loaded = await loadPage(tab, plan, {
            limits,
            clock,
            onCached,
            signal,
          });
          const isOverfull = hasTooManyCookies(await tab.page.browserContext().cookies());
          if (isOverfull) discardSession(market, region);
          return loaded;
        };
        const response = await groupOf(market).use({ market, region, origin }, task, signal);
        if (response.isPending) onDefect?.(market, 'pending');
        await share?.reserve(response.body.length, signal);
        return response;
      } catch (error) {
        if (signal?.aborted) throw signal.reason;
        const fault = Fault.from(error);
        log.debug(
          {
            market,
            region,
            url: plan.url,
            code: fault.code,
            err: fault.cause,
          },
          fault.message,
        );
        throw fault;
      }
    },
    discardSession,
    close: async () => {
      await Promise.all([...groups.values()].map((group) => group.close()));
    },
  };
}

/**
 * Throws for a request that no page sends, and for one that only a browser of this process may
 * send.
 */
function checkRequest(request: PageRequest, origin: string, isRemote: boolean): void {
  if (request.page === undefined && request.method === 'POST')
    throw new Fault('invalid', `${request.path} has no page whose scripts request it`);
  if (request.origin !== undefined && isRemote) throw unguarded(origin);
}

/**
 * Returns the fault of a page at an address from a caller, whose connections a remote browser would
 * make.
 */
function unguarded(origin: string): Fault {
  return new Fault(
    'address_refused',
    `${origin} is not an address of the origins file, ` +
      'and a browser that runs elsewhere makes its own connections',
  );
}

async function connect(
  url: string,
  { userAgent, log }: BrowserFetcherOptions,
  cookies: ScopedCache<CookieData[]>,
): Promise<BrowserProcess<Tab>> {
  const { connectBrowser } = await import('./connect.ts');
  const browser = await connectBrowser({ url, userAgent, cookies });
  log.info({ url: new URL(url).origin }, 'browser connected');
  return browser;
}

async function launch(
  options: BrowserFetcherOptions,
  cookies: ScopedCache<CookieData[]>,
): Promise<BrowserProcess<Tab>> {
  const { path, userAgent, log } = options;
  if (path === null) throw browserMissing();
  // Loads the driver only in processes that load pages.
  const { launchBrowser } = await import('./launch.ts');
  const rules = (scope: SessionScope) => egressRules(options, scope);
  const browser = await launchBrowser({
    path,
    rules,
    cookies,
    userAgent,
  });
  log.info({ path }, 'browser started');
  return browser;
}

function egressRules(
  { origins, resolve }: BrowserFetcherOptions,
  { market, origin }: SessionScope,
): EgressRules {
  const settings = origins.get(market);
  // Configured origins may have private addresses; stores named by callers may not.
  const isConfigured = settings?.addresses.values().some((address) => address === origin) ?? false;
  return {
    origin: isConfigured ? origin : null,
    allowPrivate: settings?.allowPrivate ?? false,
    resolve,
    proxy: settings?.proxy,
  };
}
