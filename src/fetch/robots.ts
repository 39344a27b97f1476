import { createBoundedMap } from '../base/bounded-map.ts';
import type { Clock } from '../base/clock.ts';
import { Fault } from '../contract/fault.ts';
import type { PageAnswer } from './page.ts';
import { retryAfterMs } from './retry-after.ts';
import { parseRobots, type RobotsRules } from './robots-rules.ts';

/** What the sites' robots.txt files ask of this program. */
export interface Robots {
  /**
   * Resolves when a path of an origin may be fetched, with the wait between requests that the origin
   * asks for. `read` gets the origin's robots.txt when it is not known. Faults: `robots_disallowed`;
   * `page_failed` while the site cannot say; those of `read`. Rejects with the signal's reason when aborted.
   */
  check(
    origin: string,
    path: string,
    read: () => Promise<PageAnswer>,
    signal?: AbortSignal,
  ): Promise<number | undefined>;
  /** Judges a further path of an origin that was checked, by what is known of it. Fault `robots_disallowed`. */
  judge(origin: string, path: string): void;
}

/** How long a robots.txt is good for (RFC 9309, 2.4). */
const goodForMs = 24 * 3_600_000;

/** How long a site is left alone that fails to say. */
const failedForMs = 60_000;

/** Longest wait between requests that is kept. */
const longestDelayMs = 30_000;

/** Origins remembered at once, and memory for their rules. */
const maxEntries = 1_000;
const maxBytes = 32 * 1024 * 1024;
const siteBytes = 256;

/** What is known of one origin. */
interface Known {
  rules: RobotsRules | null;
  /** When `rules` are read anew. */
  until: number;
  /** When the site is asked again after it failed to say. */
  failedUntil: number;
  failure: string;
  reading: Promise<void> | null;
}

const everything: RobotsRules = { allows: () => true, crawlDelayMs: undefined, bytes: 0 };

/** The name by which robots.txt files call this program: the product of its User-Agent. */
export function robotName(userAgent: string): string {
  return /^[a-z_-]+/i.exec(userAgent)?.[0] ?? '*';
}

function abortable<T>(promise: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  if (!signal) return promise;
  return new Promise((resolve, reject) => {
    const stop = () => reject(signal.reason);
    if (signal.aborted) return stop();
    signal.addEventListener('abort', stop, { once: true });
    promise.then(resolve, reject).finally(() => signal.removeEventListener('abort', stop));
  });
}

/**
 * Makes what keeps robots.txt files: each read once a day, in this process. Where there is none (4xx)
 * everything is allowed; while the site fails (5xx, 429) nothing is, unless an older one is known
 * (RFC 9309, 2.3.1).
 */
export function createRobots({ clock, userAgent }: { clock: Clock; userAgent: string }): Robots {
  const robot = robotName(userAgent);
  const known = createBoundedMap<Known>({
    maxBytes,
    maxEntries,
    sizeOf: ({ rules }) => siteBytes + (rules?.bytes ?? 0),
  });

  const take = (origin: string, site: Known, answer: PageAnswer) => {
    const now = clock.now();
    const { status } = answer;
    if (status === 429 || status >= 500) {
      const waitMs = Math.max(failedForMs, retryAfterMs(answer.headers, now) ?? 0);
      site.failedUntil = now + waitMs;
      site.failure = `${origin} answered ${status} for its robots.txt: until it says what may be read, nothing is`;
      return;
    }
    site.rules = status >= 200 && status < 300 ? parseRobots(answer.body, robot) : everything;
    site.until = now + goodForMs;
    known.set(origin, site);
  };

  const siteOf = (origin: string): Known => {
    const site = known.get(origin) ?? { rules: null, until: 0, failedUntil: 0, failure: '', reading: null };
    known.set(origin, site);
    return site;
  };

  const judge = (origin: string, path: string) => {
    if (known.peek(origin)?.rules?.allows(path) !== false) return;
    throw new Fault(
      'robots_disallowed',
      `the robots.txt of ${origin} does not allow ${robot} to read ${path}`,
    );
  };

  return {
    judge,
    check: async (origin, path, read, signal) => {
      const site = siteOf(origin);
      if (site.until <= clock.now() && site.failedUntil <= clock.now()) {
        site.reading ??= read()
          .then((answer) => take(origin, site, answer))
          .catch((error) => {
            // What it said before still stands.
            if (!site.rules) throw error;
            site.failedUntil = clock.now() + failedForMs;
          })
          .finally(() => {
            site.reading = null;
          });
        await abortable(site.reading, signal);
      }
      if (!site.rules) {
        throw new Fault('page_failed', site.failure, { retryAfterMs: site.failedUntil - clock.now() });
      }
      judge(origin, path);
      const { crawlDelayMs } = site.rules;
      return crawlDelayMs === undefined ? undefined : Math.min(crawlDelayMs, longestDelayMs);
    },
  };
}
