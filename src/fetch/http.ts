import { Agent } from 'undici';
import type { Clock } from '../base/clock.ts';
import { Fault } from '../base/fault.ts';
import type { Log } from '../base/log.ts';
import type { Origins } from '../base/origins.ts';
import { guardedLookup, type ResolveName } from './address.ts';
import { acceptedEncodings, decoded } from './encoding.ts';
import { type Exchange, send } from './exchange.ts';
import { networkFault } from './network-fault.ts';
import { type OriginOf, originFinder } from './origin-of.ts';
import type { FetchPage, PageAnswer, PageRequest } from './page.ts';
import { createSessions } from './sessions.ts';

/** How large a page may be and how long it may take. */
export interface FetchLimits {
  /** Bytes of a body as it comes over the wire. */
  wireBytes: number;
  /** Bytes of a body once decompressed. */
  bytes: number;
  /** Milliseconds for one page, redirects included. */
  totalMs: number;
  /** Milliseconds without a sign of life. */
  idleMs: number;
  connectMs: number;
}

/** What holds where nothing else is set. */
export const defaultLimits: FetchLimits = {
  wireBytes: 16 * 1024 * 1024,
  bytes: 16 * 1024 * 1024,
  totalMs: 20_000,
  idleMs: 10_000,
  connectMs: 5_000,
};

/** What the fetcher is made of. */
export interface HttpFetcherOptions {
  origins: Origins;
  clock: Clock;
  log: Log;
  userAgent: string;
  limits?: Partial<FetchLimits>;
  /** Resolves the names of stores named by callers; `dns.lookup` when absent. */
  resolve?: ResolveName;
}

/** Gets pages of every market. */
export interface Fetcher {
  /** A fetch for one market and region. An aborted signal rejects with its reason. */
  for(market: string, region: string, signal?: AbortSignal): FetchPage;
  /** Scheme, host and port that a request goes to. Faults: `origin_missing`, `address_refused`. */
  originOf: OriginOf;
  /** Begins anew with a market's region, as a visitor without cookies: the site no longer takes it. */
  forget(market: string, region: string): void;
  /** Ends every connection. */
  close(): Promise<void>;
}

const maxRedirects = 3;

const redirects: readonly number[] = [301, 302, 303, 307, 308];

/** The request that a redirect leads to, or null where the redirect itself is the answer. */
function redirected(request: PageRequest, answer: PageAnswer): PageRequest | null {
  const { location } = answer.headers;
  if (!request.redirects || !redirects.includes(answer.status) || location === undefined) return null;
  if (!URL.canParse(location, answer.url)) return null;
  const here = new URL(answer.url);
  const target = new URL(location, here);
  const anywhere = request.redirects === 'anywhere' && request.origin !== undefined;
  if (target.origin !== here.origin && !anywhere) return null;
  const next: PageRequest = { ...request, path: target.pathname + target.search };
  if (request.origin !== undefined) next.origin = `${target.protocol}//${target.host}`;
  if (answer.status <= 303) {
    delete next.body;
    delete next.method;
  }
  return next;
}

/**
 * Makes the fetcher that speaks HTTP: pooled connections that are kept, bodies decompressed within
 * limits, each origin's own cookies, no credentials, an honest User-Agent. Redirects are followed only
 * as a request asks. Stores named by callers are judged when the connection is made, after every redirect too.
 */
export function createHttpFetcher(options: HttpFetcherOptions): Fetcher {
  const { origins, clock, log, userAgent } = options;
  const limits = { ...defaultLimits, ...options.limits };
  const pool = {
    connectTimeout: limits.connectMs,
    headersTimeout: limits.idleMs,
    bodyTimeout: limits.idleMs,
    maxHeaderSize: 64 * 1024,
    allowH2: false,
  };
  const configured = new Agent(pool);
  const guarded = new Agent({
    ...pool,
    connect: { lookup: guardedLookup(options.resolve), timeout: limits.connectMs },
  });

  const originOf = originFinder(origins);
  const sessions = createSessions();

  /** Sends a request and those that redirects lead to; `started` is told of each. */
  async function follow(
    market: string,
    region: string,
    first: PageRequest,
    started: (exchange: Exchange) => void,
  ): Promise<PageAnswer> {
    let request = first;
    for (let followed = 0; ; followed += 1) {
      const origin = originOf(market, region, request);
      const visited = { market, region, origin };
      const url = origin + request.path;
      const cookie = sessions.header(visited, url);
      const open = request.origin === undefined || origins.get(market)?.allowPrivate === true;
      const exchange = send(
        open ? configured : guarded,
        {
          origin,
          path: request.path,
          method: request.method ?? 'GET',
          headers: {
            'user-agent': userAgent,
            'accept-encoding': acceptedEncodings,
            ...(cookie === undefined ? {} : { cookie }),
            ...request.headers,
          },
          body: request.body ?? null,
        },
        limits.wireBytes,
      );
      started(exchange);
      const { status, headers, cookies, body: wire } = await exchange.answer;
      sessions.keep(visited, url, cookies);
      const body = await decoded(wire, headers['content-encoding'], limits.bytes);
      const answer = { status, headers, body, url, at: clock.now() };
      const next = followed < maxRedirects ? redirected(request, answer) : null;
      if (!next) return answer;
      request = next;
    }
  }

  return {
    originOf,
    for: (market, region, signal) => async (request) => {
      if (signal?.aborted) throw signal.reason;
      let exchange: Exchange | undefined;
      let stopped: { reason: unknown } | undefined;
      const stop = (reason: unknown) => {
        stopped ??= { reason };
        exchange?.stop(stopped.reason);
      };
      const started = (next: Exchange) => {
        exchange = next;
        if (stopped) next.stop(stopped.reason);
      };
      const late = () => stop(new Fault('page_timeout', `the page took longer than ${limits.totalMs} ms`));
      const timer = setTimeout(late, limits.totalMs);
      const aborted = () => stop(signal!.reason);
      signal?.addEventListener('abort', aborted, { once: true });
      try {
        return await follow(market, region, request, started);
      } catch (error) {
        if (stopped) throw stopped.reason;
        const fault = networkFault(error, request.origin ?? `${market}${region === '' ? '' : `/${region}`}`);
        log.debug({ market, region, path: request.path, code: fault.code, err: fault.cause }, fault.message);
        throw fault;
      } finally {
        clearTimeout(timer);
        signal?.removeEventListener('abort', aborted);
      }
    },
    forget: (market, region) => sessions.drop(market, region),
    close: async () => {
      await Promise.all([configured.destroy(), guarded.destroy()]);
    },
  };
}
