import { createBoundedMap } from '../base/bounded-map.ts';
import type { Clock } from '../base/clock.ts';
import { Fault } from '../contract/fault.ts';
import type { PageResponse } from './page.ts';
import { parseRetryAfter } from './retry-after.ts';
import { parseRobots, type RobotsRules } from './robots-rules.ts';

/** Rules for this crawler in the robots.txt files of all sites. */
export interface Robots {
  /**
   * Resolves if a path of an origin may be fetched, with the crawl delay in milliseconds if the
   * origin declares one. Calls `read` to fetch the robots.txt if it is not cached. Rejects with
   * `robots_disallowed`; with `page_failed` while the site fails to return a robots.txt; with the
   * faults of `read`; with the signal's reason if aborted.
   */
  check(
    origin: string,
    path: string,
    read: () => Promise<PageResponse>,
    signal?: AbortSignal,
  ): Promise<number | undefined>;
  /** Throws `robots_disallowed` if the cached rules of an origin disallow a path. */
  assertAllowed(origin: string, path: string): void;
}

/** Cache lifetime of a robots.txt, in milliseconds (RFC 9309, section 2.4). */
const maxAgeMs = 24 * 3_600_000;

/** Minimum time until a robots.txt that failed is requested again, in milliseconds. */
const retryMs = 60_000;

/** Maximum crawl delay that is respected, in milliseconds. */
const maxDelayMs = 30_000;

/** Limits on the cache. */
const maxEntries = 1_000;
const maxBytes = 32 * 1024 * 1024;
const entryBytes = 256;

/** Cached robots.txt of one origin. */
interface CachedRobots {
  rules: RobotsRules | null;
  /** Expiry of `rules`. */
  until: number;
  /** Time of the next attempt after a failure. */
  retryAt: number;
  failure: string;
  reading: Promise<void> | null;
}

const allowAll: RobotsRules = { allows: () => true, crawlDelayMs: undefined, bytes: 0 };

/** Returns the name of this crawler in robots.txt files: the product of its User-Agent. */
export function robotName(userAgent: string): string {
  return /^[a-z_-]+/i.exec(userAgent)?.[0] ?? '*';
}

/** Returns the result of a promise. Rejects with the signal's reason if it aborts first. */
function abortable<T>(promise: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  if (!signal) return promise;
  return new Promise((resolve, reject) => {
    const stop = () => reject(signal.reason);
    signal.addEventListener('abort', stop, { once: true });
    promise.then(resolve, reject).finally(() => signal.removeEventListener('abort', stop));
  });
}

/**
 * Stores the response to a robots.txt request (RFC 9309, section 2.3.1). Returns false if the site
 * failed.
 */
function storeResponse(
  origin: string,
  cached: CachedRobots,
  response: PageResponse,
  robot: string,
  clock: Clock,
): boolean {
  const { status, headers, body } = response;
  const now = clock.steady();
  if (status === 429 || status >= 500) {
    const problem = `${origin} responded with status ${status} to the request for its robots.txt`;
    cached.failure = `${problem}; no page is fetched until it succeeds`;
    cached.retryAt = now + Math.max(retryMs, parseRetryAfter(headers, clock.now()) ?? 0);
    return false;
  }
  cached.rules = status >= 200 && status < 300 ? parseRobots(body, robot) : allowAll;
  cached.until = now + maxAgeMs;
  return true;
}

/**
 * Creates a cache of robots.txt files, each fetched once per day and process. A missing file (4xx)
 * allows everything. While the site fails (5xx, 429), nothing is allowed unless an older file is
 * cached (RFC 9309, section 2.3.1).
 */
export function createRobots({ clock, userAgent }: { clock: Clock; userAgent: string }): Robots {
  const robot = robotName(userAgent);
  const cache = createBoundedMap<CachedRobots>({
    maxBytes,
    maxEntries,
    sizeOf: ({ rules }) => entryBytes + (rules?.bytes ?? 0),
  });

  const entryOf = (origin: string): CachedRobots => {
    const cached = cache.get(origin) ?? {
      rules: null,
      until: 0,
      retryAt: 0,
      failure: '',
      reading: null,
    };
    cache.set(origin, cached);
    return cached;
  };

  const refresh = async (
    origin: string,
    cached: CachedRobots,
    read: () => Promise<PageResponse>,
  ) => {
    try {
      const isStored = storeResponse(origin, cached, await read(), robot, clock);
      // The rules changed the size of the entry.
      if (isStored) cache.set(origin, cached);
    } catch (error) {
      // The expired rules remain in use.
      if (!cached.rules) throw error;
      cached.retryAt = clock.steady() + retryMs;
    }
  };

  const assertAllowed = (origin: string, path: string) => {
    if (cache.peek(origin)?.rules?.allows(path) !== false) return;
    throw new Fault(
      'robots_disallowed',
      `the robots.txt of ${origin} does not allow ${robot} to read ${path}`,
    );
  };

  return {
    assertAllowed,
    check: async (origin, path, read, signal) => {
      signal?.throwIfAborted();
      const cached = entryOf(origin);
      if (cached.until <= clock.steady() && cached.retryAt <= clock.steady()) {
        cached.reading ??= refresh(origin, cached, read).finally(() => {
          cached.reading = null;
        });
        await abortable(cached.reading, signal);
      }
      if (!cached.rules) {
        throw new Fault('page_failed', cached.failure, {
          retryAfterMs: cached.retryAt - clock.steady(),
        });
      }
      assertAllowed(origin, path);
      const { crawlDelayMs } = cached.rules;
      if (crawlDelayMs === undefined) return undefined;
      return Math.min(crawlDelayMs, maxDelayMs);
    },
  };
}
