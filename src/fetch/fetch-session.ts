import type { Clock } from '../base/clock.ts';
import { sha256 } from '../base/id.ts';
import type { Log } from '../base/log.ts';
import { Fault } from '../contract/fault.ts';
import type { AcquireOptions } from './concurrency-limit.ts';
import type { Fetcher } from './http.ts';
import type { MarketLimits } from './limits.ts';
import type { OriginThrottle } from './origin-throttle.ts';
import type { FetchPage, PageRequest, PageResponse } from './page.ts';
import type { PageShare } from './page-memory.ts';
import type { RequestObserver, RequestTarget } from './request-observer.ts';
import { classifyFault, classifyStatus, type RequestOutcome } from './request-outcome.ts';

/** Usage of a market's limits by one unit. */
export interface UnitUsage {
  /**
   * Adds a request that took `ms` and returned a page of `bytes`. Throws `page_too_large` or
   * `page_timeout` if a limit is exceeded; neither is retried.
   */
  add(bytes: number, ms: number): void;
}

/** Creates the counters of one unit of a market. */
export function createUnitUsage(market: string, limits: MarketLimits): UnitUsage {
  let bytes = 0;
  let ms = 0;
  const exceeded = (code: 'page_too_large' | 'page_timeout', message: string) =>
    new Fault(code, `${message}, the limit of ${market}`, { final: true });
  return {
    add: (pageBytes, requestMs) => {
      bytes += pageBytes;
      ms += requestMs;
      if (pageBytes > limits.pageBytes) {
        throw exceeded('page_too_large', `the page is larger than ${limits.pageBytes} bytes`);
      }
      if (bytes > limits.unitBytes) {
        throw exceeded('page_too_large', `the pages of the unit exceed ${limits.unitBytes} bytes`);
      }
      if (ms > limits.unitMs) {
        throw exceeded(
          'page_timeout',
          `the requests of the unit took longer than ${limits.unitMs / 1000} s`,
        );
      }
    },
  };
}

/** Session that reads one unit: its requests, and their outcome. */
export interface FetchSession {
  fetch: FetchPage;
  /**
   * Ends the session: null if the reader accepted all responses, otherwise its fault. Refusals and
   * failures pause the origin (docs/fetching.md, "When a site refuses"), and a block discards its
   * cookies. Never rejects.
   */
  end(fault: Fault | null): Promise<void>;
}

/** Options for createFetchSession(). */
export interface FetchSessionOptions {
  market: string;
  region: string;
  signal: AbortSignal | undefined;
  /** Precedence for permits of the origin. */
  acquire: AcquireOptions;
  /** Memory for the pages; unbounded if undefined. */
  share: PageShare | undefined;
  limits: MarketLimits;
  fetcher: Fetcher;
  throttleOf(market: string, region: string, request: PageRequest): OriginThrottle;
  observer: RequestObserver | undefined;
  clock: Clock;
  log: Log;
}

/**
 * Maximum wait for a paused origin in milliseconds: for the first page of a session, and for the
 * following ones.
 */
const maxPauseWaitMs = { first: 5_000, following: 60_000 };

interface SentRequest {
  throttle: OriginThrottle;
  target: RequestTarget;
  page: string;
  trial: boolean;
  /** True once its outcome was recorded. */
  recorded: boolean;
}

const succeeded: RequestOutcome = { kind: 'succeeded' };

/** Returns a key that identifies a page within its origin. */
function pageKey({ path, body }: PageRequest): string {
  return body === undefined ? path : `${path} ${sha256(body)}`;
}

/** Creates a session that respects the throttle of each origin, but not its robots.txt. */
export function createFetchSession(options: FetchSessionOptions): FetchSession {
  const session = new ThrottledSession(options);
  return { fetch: (request) => session.fetch(request), end: (fault) => session.end(fault) };
}

/** Status of a site that refuses the cookies of a session. */
const headersTooLarge = 431;

class ThrottledSession implements FetchSession {
  readonly #options: FetchSessionOptions;
  readonly #fetchPage: FetchPage;
  readonly #usage: UnitUsage;
  #last: SentRequest | undefined;
  #responses = 0;
  #inFlight = 0;

  constructor(options: FetchSessionOptions) {
    const { fetcher, market, region, signal, share, limits } = options;
    this.#options = options;
    this.#fetchPage = fetcher.for(market, region, signal, share);
    this.#usage = createUnitUsage(market, limits);
  }

  async fetch(request: PageRequest): Promise<PageResponse> {
    if (this.#inFlight === 0) {
      // A reader that requests the next page has processed the last one, and accepted it.
      this.#options.share?.release();
      if (this.#last) await this.#record(this.#last, succeeded);
    }
    this.#inFlight += 1;
    try {
      return await this.#send(request);
    } finally {
      this.#inFlight -= 1;
    }
  }

  async end(fault: Fault | null): Promise<void> {
    const { share } = this.#options;
    if (fault?.code === 'page_blocked' || fault?.code === 'page_login') this.#discardCookies();
    share?.release();
    if (this.#last) await this.#record(this.#last, fault ? classifyFault(fault) : succeeded);
  }

  #discardCookies(): void {
    const { fetcher, market, region } = this.#options;
    fetcher.discardSession(market, region);
  }

  async #record(sent: SentRequest, outcome: RequestOutcome): Promise<void> {
    if (sent.recorded || outcome.kind === 'not_sent') return;
    const { market, region, observer, log } = this.#options;
    sent.recorded = true;
    observer?.classified(sent.target, outcome.kind);
    try {
      const sharing = sent.throttle.circuit.record(sent.page, outcome, sent.trial);
      if (sharing !== undefined) await sharing;
    } catch (error) {
      // The page is valid even if the outcome cannot be shared with other workers.
      log.warn({ market, region, error: Fault.from(error).message }, 'request outcome not shared');
    }
  }

  /** Sends a request once the throttle of its origin admits it. */
  async #send(request: PageRequest): Promise<PageResponse> {
    const { market, region, signal, acquire, throttleOf } = this.#options;
    const throttle = throttleOf(market, region, request);
    const maxWaitMs = this.#responses > 0 ? maxPauseWaitMs.following : maxPauseWaitMs.first;
    const page = pageKey(request);
    // Most requests find a closed circuit. Each promise less makes them cheaper.
    if (!throttle.circuit.closed) await throttle.circuit.wait(maxWaitMs, signal);
    const release = await throttle.permits.acquire(signal, acquire);
    try {
      const trial = await this.#admit(throttle, page, maxWaitMs);
      const target = {
        origin: this.#options.fetcher.originOf(market, region, request),
        market,
        region,
      };
      return await this.#sendAdmitted(request, {
        throttle,
        target,
        page,
        trial,
        recorded: false,
      });
    } finally {
      release();
    }
  }

  /**
   * Resolves once the circuit and the rate limit admit a request; with true for a trial request.
   */
  async #admit(
    { circuit, tokens }: OriginThrottle,
    page: string,
    maxWaitMs: number,
  ): Promise<boolean> {
    const { signal } = this.#options;
    let trial = !circuit.closed && (await circuit.admit(page, maxWaitMs, signal));
    while (!trial) {
      const waiting = tokens.take(signal);
      if (waiting !== undefined) await waiting;
      if (!circuit.paused) break;
      trial = await circuit.admit(page, maxWaitMs, signal);
    }
    return trial;
  }

  async #sendAdmitted(request: PageRequest, sent: SentRequest): Promise<PageResponse> {
    const { clock, observer, share } = this.#options;
    // Time spent waiting for page memory is not the site's.
    const siteTime = () => clock.steady() - (share?.waitedMs ?? 0);
    this.#last = sent;
    const startedAt = siteTime();
    let response: PageResponse;
    try {
      response = await this.#fetchPage(request);
      this.#responses += 1;
      observer?.ended(sent.target, siteTime() - startedAt);
      if (response.status === headersTooLarge) this.#discardCookies();
      const outcome = classifyStatus(response, clock.now());
      if (outcome !== null) await this.#record(sent, outcome);
    } catch (error) {
      if (error instanceof Fault) {
        const outcome = classifyFault(error);
        if (outcome.kind !== 'not_sent') observer?.ended(sent.target, siteTime() - startedAt);
        await this.#record(sent, outcome);
      }
      throw error;
    }
    this.#usage.add(response.body.length, siteTime() - startedAt);
    return response;
  }
}

/** Default maximum of redirects followed for one page. */
const maxRedirects = 3;

const statuses: readonly number[] = [301, 302, 303, 307, 308];

/** Headers that must not be sent to another origin. */
const sameOriginHeaders: readonly string[] = ['cookie', 'authorization', 'origin', 'referer'];

/**
 * Returns the request that follows a redirect, or null if the response is not a redirect to follow.
 */
function nextRequest(request: PageRequest, response: PageResponse): PageRequest | null {
  const { location } = response.headers;
  if (!request.redirects || !statuses.includes(response.status) || location === undefined)
    return null;
  const here = new URL(response.url);
  const target = URL.parse(location, response.url);
  if (!target) return null;
  const { redirects } = request;
  const isNamed = request.origin !== undefined;
  const isAccepted = typeof redirects === 'function' ? redirects(target) : redirects === 'anywhere';
  const mayLeave = redirects === 'robots_file' || (isNamed && isAccepted);
  const isCrossOrigin = target.origin !== here.origin;
  if ((isCrossOrigin && !mayLeave) || target.username !== '' || target.password !== '') return null;
  const next: PageRequest = { ...request, path: target.pathname + target.search };
  if (isNamed || isCrossOrigin) next.origin = `${target.protocol}//${target.host}`;
  if (isCrossOrigin && request.headers) {
    next.headers = Object.fromEntries(
      Object.entries(request.headers).filter(([name]) => !sameOriginHeaders.includes(name)),
    );
  }
  if (response.status <= 303) {
    delete next.body;
    delete next.method;
  }
  return next;
}

/**
 * Wraps a fetch function so that it follows redirects as `request.redirects` says. Each hop is a
 * separate request, subject to the same address checks, rate limits, and robots.txt rules.
 */
export function followRedirects(fetch: FetchPage, max: number = maxRedirects): FetchPage {
  const follow: FetchPage = async (first) => {
    let request = first;
    for (let followed = 0; ; followed += 1) {
      const response = await fetch(request);
      const next = followed < max ? nextRequest(request, response) : null;
      if (!next) return response;
      request = next;
    }
  };
  return (request) => (request.redirects ? follow(request) : fetch(request));
}

/**
 * Wraps a fetch function so that requests for a named origin are sent to the origins file's address
 * of the region. Responses have the addresses of the named origin.
 */
export function atOriginOf(fetch: FetchPage): FetchPage {
  const fetchFrom = async ({ origin, isReady, ...request }: PageRequest) => {
    const renamed = (response: PageResponse) => ({ ...response, url: origin + request.path });
    const expected = isReady && { isReady: (document: PageResponse) => isReady(renamed(document)) };
    return renamed(await fetch({ ...request, ...expected }));
  };
  return (request) => (request.origin === undefined ? fetch(request) : fetchFrom(request));
}
