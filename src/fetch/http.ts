import type { Dispatcher } from 'undici';
import { onAbort } from '../base/abort.ts';
import type { Clock } from '../base/clock.ts';
import type { Log } from '../base/log.ts';
import type { Origins } from '../base/origins.ts';
import { Fault } from '../contract/fault.ts';
import type { ResolveName } from './address.ts';
import { acceptedEncodings, decoded } from './encoding.ts';
import { send } from './exchange.ts';
import { networkFault } from './network-fault.ts';
import { type OriginOf, originFinder } from './origin-of.ts';
import type { FetchPage, PageAnswer, PageRequest } from './page.ts';
import type { PageShare } from './page-memory.ts';
import { createSessions } from './sessions.ts';
import { watchTransfer } from './transfer-watch.ts';
import { createWays } from './ways.ts';

/** How large a page may be and how long it may take. */
export interface FetchLimits {
  /** Bytes of a body as it comes over the wire. */
  wireBytes: number;
  /** Bytes of a body once decompressed. */
  bytes: number;
  /** Milliseconds for one answer. */
  totalMs: number;
  /** Bytes a second that a body must bring on average, from `slowMs` after its headers on. */
  minBytesPerSecond: number;
  slowMs: number;
  /** Milliseconds without a sign of life. */
  idleMs: number;
  connectMs: number;
}

/** What holds where nothing else is set. */
const defaultLimits: FetchLimits = {
  wireBytes: 16 * 1024 * 1024,
  bytes: 16 * 1024 * 1024,
  totalMs: 20_000,
  minBytesPerSecond: 1024,
  slowMs: 10_000,
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
  /** Bytes of a market's pages, on the wire and decompressed, where that is less than `limits` say. */
  maxPageBytes?: (market: string) => number;
  /** Resolves the names of stores named by callers; `dns.lookup` when absent. */
  resolve?: ResolveName;
}

/** Gets pages of every market. */
export interface Fetcher {
  /** A fetch for one market and region, of one request: redirects are not followed. An aborted signal
   *  rejects with its reason. A body is reserved in `share` before it is decoded; whoever has read it releases it. */
  for(market: string, region: string, signal?: AbortSignal, share?: PageShare): FetchPage;
  /** Scheme, host and port that a request goes to. Faults: `origin_missing`, `address_refused`. */
  originOf: OriginOf;
  /** Begins anew with a market's region, as a visitor without cookies: the site no longer takes it. */
  forget(market: string, region: string): void;
  /** Ends every connection. */
  close(): Promise<void>;
}

/**
 * Makes the fetcher that speaks HTTP: pooled connections that are kept, bodies decompressed within
 * limits, each origin's own cookies, no credentials, an honest User-Agent, straight or through the
 * market's proxies. Stores named by callers are judged when the connection is made. A redirect is the
 * answer: whoever follows it asks again.
 */
export function createHttpFetcher(options: HttpFetcherOptions): Fetcher {
  const { origins, clock, log, userAgent, resolve } = options;
  const limits = { ...defaultLimits, ...options.limits };
  const ways = createWays({ ...limits, origins, clock, resolve });
  const originOf = originFinder(origins);
  const sessions = createSessions();

  const maxPageBytes = options.maxPageBytes ?? (() => limits.bytes);

  /** Begins a request; its answer is what `answered` resolves with. */
  const begin = (market: string, region: string, request: PageRequest, dispatcher: Dispatcher) => {
    const maxBytes = Math.min(limits.bytes, maxPageBytes(market));
    if (!request.path.startsWith('/')) throw new Fault('internal', `${request.path} is no path`);
    const origin = originOf(market, region, request);
    const visited = { market, region, origin };
    const url = origin + request.path;
    const cookie = sessions.header(visited, url, request.preferences);
    const headers = {
      'user-agent': userAgent,
      'accept-encoding': acceptedEncodings,
      ...(cookie === undefined ? {} : { cookie }),
      ...request.headers,
    };
    const { path, method = 'GET', body = null } = request;
    const exchange = send(
      dispatcher,
      { origin, path, method, headers, body },
      Math.min(limits.wireBytes, maxBytes),
    );
    const answered = async (
      stopWatching: () => void,
      share?: PageShare,
      signal?: AbortSignal,
    ): Promise<PageAnswer> => {
      const { status, headers, cookies, body: wire } = await exchange.answer;
      stopWatching();
      sessions.keep(visited, url, cookies);
      const encoding = headers['content-encoding'];
      // How long an encoded body is shows only afterwards.
      await share?.reserve(encoding === undefined ? wire.length : maxBytes, signal);
      const body = await decoded(wire, encoding, maxBytes);
      share?.shrink(body.length);
      return { status, headers, body, url, at: clock.now() };
    };
    return { exchange, answered };
  };

  const fetcherFor: Fetcher['for'] = (market, region, signal, share) => {
    /** Pages of one visit take the same way. */
    let proxy: number | undefined;
    return async (request) => {
      if (signal?.aborted) throw signal.reason;
      const guarded = request.origin !== undefined && !origins.get(market)?.allowPrivate;
      const way = ways.out(market, guarded, proxy);
      proxy = way.proxy;
      const { exchange, answered } = begin(market, region, request, way.dispatcher);
      let stopped: { reason: unknown } | undefined;
      const end = (reason: unknown) => {
        stopped ??= { reason };
        exchange.stop(stopped.reason);
      };
      const stopWatching = watchTransfer(exchange, limits, end);
      const stopListening = signal && onAbort(signal, () => end(signal.reason));
      try {
        const answer = await answered(stopWatching, share, signal);
        way.took(null);
        return answer;
      } catch (error) {
        if (signal?.aborted) throw signal.reason;
        const name = request.origin ?? `${market}${region === '' ? '' : `/${region}`}`;
        const fault = networkFault(stopped ? stopped.reason : error, name);
        way.took(fault.code);
        log.debug({ market, region, path: request.path, code: fault.code, err: fault.cause }, fault.message);
        throw fault;
      } finally {
        stopWatching();
        stopListening?.();
      }
    };
  };

  return {
    originOf,
    for: fetcherFor,
    forget: (market, region) => sessions.drop(market, region),
    close: ways.close,
  };
}
