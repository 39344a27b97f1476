import { newId } from '../base/id.ts';
import type { Origins } from '../base/origins.ts';
import { Fault } from '../contract/fault.ts';
import { type AcquireOptions, createUrgentTasks } from './concurrency-limit.ts';
import {
  atOriginOf,
  createFetchSession,
  type FetchSession,
  followRedirects,
} from './fetch-session.ts';
import type { Fetcher } from './http.ts';
import { defaultMarketLimits, type MarketLimits } from './limits.ts';
import {
  createOriginThrottles,
  type OriginThrottle,
  type OriginThrottleOptions,
} from './origin-throttle.ts';
import type { FetchPage, PageRequest, PageResponse } from './page.ts';
import {
  createPageMemory,
  type PageMemory,
  type PageShare,
  type RecordMemory,
} from './page-memory.ts';
import { maxConcurrency, type OriginPolicy, originPolicy } from './policy.ts';
import type { RequestObserver } from './request-observer.ts';
import { createRobots, type Robots } from './robots.ts';

/** Options for createOriginScheduler(). */
export interface OriginSchedulerOptions
  extends Pick<OriginThrottleOptions, 'store' | 'clock' | 'log'> {
  fetcher: Fetcher;
  origins: Origins;
  /** User-Agent; its product name selects the group of a robots.txt. */
  userAgent: string;
  /** Id of this process as a holder of permits; random by default. */
  holder?: string | undefined;
  random?: () => number;
  /** Duration of the first pause of an origin in milliseconds; 2,000 by default. */
  firstPauseMs?: number;
  observer?: RequestObserver | undefined;
  /** Returns the limits of a market's site. Default: the limits of a market that declares none. */
  limitsOf?: (market: string) => MarketLimits;
  /** Returns the policy that a market declares for its origins of a region. */
  policyOf: (market: string, region: string) => Partial<OriginPolicy>;
  /** Memory for the pages of all sessions and for records; unbounded by default. */
  memory?: PageMemory;
}

/** Access to all origins within the limits of their policies. */
export interface OriginScheduler {
  /**
   * Opens a session that reads one unit from a market's origin of a region, or from a store given
   * by a caller. Urgent callers get permits of the origin first, and users get equal shares.
   */
  openSession(
    market: string,
    region: string,
    signal?: AbortSignal,
    caller?: AcquireOptions,
  ): FetchSession;
  /**
   * Returns the maximum concurrent requests to one origin of the market's region, over all workers.
   */
  concurrency(market: string, region: string): number;
  /** Memory for records, which they share with the pages. */
  records: RecordMemory;
  /**
   * Starts an urgent task, which temporarily lowers the concurrency of this process's other
   * requests. Returns the function that ends it.
   */
  beginUrgent(): () => void;
  /** Releases all permits. */
  close(): Promise<void>;
}

/** Maximum redirects followed for a robots.txt (RFC 9309, section 2.3.1.2). */
const maxRobotsRedirects = 5;

/** Site of a session, and the parts that it shares with others. */
interface SessionTarget {
  market: string;
  region: string;
  signal?: AbortSignal | undefined;
  acquire?: AcquireOptions | undefined;
  share?: PageShare;
}

type OpenSession = (target: SessionTarget) => FetchSession;

type ThrottleOf = (market: string, region: string, request: PageRequest) => OriginThrottle;

/**
 * Creates a scheduler over a fetcher. It applies each origin's concurrency, rate limit, pauses, and
 * robots.txt rules over all workers (docs/fetching.md, "Limits of an origin"). A fetch rejects with
 * the signal's reason if aborted while it waits, and with these faults besides the fetcher's:
 * `origin_paused` if a pause exceeds the maximum wait, `robots_disallowed`, and `unavailable` if
 * the store does not respond.
 */
export function createOriginScheduler(options: OriginSchedulerOptions): OriginScheduler {
  const { fetcher, origins, clock, log, userAgent, observer } = options;
  const memory = options.memory ?? createPageMemory({ maxBytes: Number.POSITIVE_INFINITY, clock });
  const limitsOf = options.limitsOf ?? (() => defaultMarketLimits);
  const robots = createRobots({ clock, userAgent });
  // Declarations change while the service runs.
  const policyOf = (market: string, region: string): OriginPolicy =>
    originPolicy(options.policyOf(market, region), origins.get(market));
  const urgentTasks = createUrgentTasks(clock);
  const throttles = createOriginThrottles({
    urgentTasks,
    store: options.store,
    clock,
    log,
    holder: options.holder ?? newId(),
    random: options.random ?? Math.random,
    firstPauseMs: options.firstPauseMs ?? 2_000,
  });
  const throttleOf: ThrottleOf = (market, region, request) => {
    const origin = fetcher.originOf(market, region, request);
    const regionName = region === '' ? market : `${market}/${region}`;
    const name = request.origin === undefined ? regionName : origin;
    return throttles.at(origin, name, policyOf(market, region));
  };
  const openSession: OpenSession = ({
    market,
    region,
    signal,
    acquire = {},
    share = memory.share(),
  }) =>
    createFetchSession({
      fetcher,
      throttleOf,
      observer,
      clock,
      log,
      market,
      region,
      signal,
      acquire,
      share,
      limits: limitsOf(market),
    });
  const robotsCheck = createRobotsCheck(robots, { fetcher, throttleOf, openSession });

  return {
    openSession: (market, region, signal, acquire) => {
      const share = memory.share();
      const target = { market, region, signal };
      const { fetch, end } = openSession({ ...target, acquire, share });
      const hasAddress = region !== '' && origins.get(market)?.addresses.has(region);
      const atAddress = hasAddress ? atOriginOf : (fetchPage: FetchPage) => fetchPage;
      if (!policyOf(market, region).robots)
        return { fetch: followRedirects(atAddress(fetch)), end };
      const fetchAllowed: FetchPage = async (request) => {
        // Fetching a robots.txt reserves memory too, so sessions that kept their pages could
        // deadlock.
        share.release();
        const assertAllowed = await robotsCheck(target, request);
        return fetch({ ...request, assertAllowed });
      };
      return { fetch: followRedirects(atAddress(fetchAllowed)), end };
    },
    concurrency: (market, region) => maxConcurrency(policyOf(market, region)),
    records: memory.records,
    beginUrgent: urgentTasks.begin,
    close: throttles.close,
  };
}

/** Fetches the robots.txt of the origin that a request is for. */
async function fetchRobots(
  { fetch, end }: FetchSession,
  { origin }: PageRequest,
): Promise<PageResponse> {
  const request: PageRequest = {
    path: '/robots.txt',
    headers: { accept: 'text/plain' },
    redirects: 'robots_file',
  };
  if (origin !== undefined) request.origin = origin;
  try {
    const response = await followRedirects(fetch, maxRobotsRedirects)(request);
    await end(null);
    return response;
  } catch (error) {
    await end(Fault.from(error));
    throw error;
  }
}

/** Check of a request of a session, which resolves with the check of further paths. */
type RobotsCheck = (
  target: Pick<SessionTarget, 'market' | 'region' | 'signal'>,
  request: PageRequest,
) => Promise<(path: string) => void>;

/** Dependencies of createRobotsCheck(). */
interface RobotsCheckOptions {
  fetcher: Fetcher;
  throttleOf: ThrottleOf;
  openSession: OpenSession;
}

/**
 * Creates the robots.txt check of the requests of sessions. It rejects with `robots_disallowed` or
 * applies the crawl delay, and resolves with the check of further paths on the same origin.
 */
function createRobotsCheck(
  robots: Robots,
  { fetcher, throttleOf, openSession }: RobotsCheckOptions,
): RobotsCheck {
  return async ({ market, region, signal }, request) => {
    const origin = fetcher.originOf(market, region, request);
    // Other sessions use the file too, so that this one's signal does not end its fetch.
    const read = () => fetchRobots(openSession({ market, region }), request);
    for (const path of new Set([request.path, request.page?.path ?? request.path])) {
      const delayMs = await robots.check(origin, path, read, signal);
      if (delayMs !== undefined) throttleOf(market, region, request).slowDown(delayMs);
    }
    return (path) => robots.assertAllowed(origin, path);
  };
}
