import type { Dispatcher } from 'undici';
import { onAbort } from '../base/abort.ts';
import type { Clock } from '../base/clock.ts';
import type { Log } from '../base/log.ts';
import type { Origins } from '../base/origins.ts';
import { Fault } from '../contract/fault.ts';
import type { ResolveName } from './address.ts';
import { acceptedEncodings, decodeBody } from './content-encoding.ts';
import { type CookieStore, createCookieStore, type SessionScope } from './cookie-store.ts';
import {
  createDispatchers,
  type Dispatchers,
  type HttpExchange,
  sendRequest,
} from './http-request.ts';
import { networkFault } from './network-fault.ts';
import { createOriginResolver, type ResolveOrigin } from './origin-resolver.ts';
import type { FetchPage, PageRequest, PageResponse } from './page.ts';
import type { PageShare } from './page-memory.ts';
import type { SignRequest } from './web-bot-auth.ts';

/** Limits on the duration of a response. */
export interface TransferLimits {
  /** Timeout of a response, in milliseconds. */
  totalMs: number;
  /** Minimum average rate of a body, checked from `slowMs` milliseconds after its headers on. */
  minBytesPerSecond: number;
  slowMs: number;
}

/**
 * Watches a request, and calls `end` with `page_timeout` if it takes too long or its body arrives
 * too slowly. Returns a function that stops watching.
 */
function watchTransfer(
  exchange: Pick<HttpExchange, 'received'>,
  { totalMs, minBytesPerSecond, slowMs }: TransferLimits,
  end: (fault: Fault) => void,
): () => void {
  const startedAt = performance.now();
  const isSlow = () => {
    const { bytes, ms } = exchange.received();
    return ms >= slowMs && bytes * 1000 < minBytesPerSecond * ms;
  };
  const check = () => {
    const leftMs = totalMs - (performance.now() - startedAt);
    if (leftMs <= 0)
      return end(new Fault('page_timeout', `the page took longer than ${totalMs} ms`));
    if (isSlow()) {
      return end(
        new Fault(
          'page_timeout',
          `the page arrived at less than ${minBytesPerSecond} bytes per second`,
        ),
      );
    }
    timer = setTimeout(check, Math.min(1000, slowMs, leftMs));
  };
  // The rate is not checked earlier.
  let timer = setTimeout(check, Math.min(slowMs, totalMs));
  return () => clearTimeout(timer);
}

/** Limits on the size and duration of a response. */
export interface FetchLimits {
  /** Maximum bytes of an encoded body. */
  wireBytes: number;
  /** Maximum bytes of a decoded body. */
  bytes: number;
  /** Timeout of a response, in milliseconds. */
  totalMs: number;
  /** Minimum average rate of a body, checked from `slowMs` milliseconds after its headers on. */
  minBytesPerSecond: number;
  slowMs: number;
  /** Timeout while no data arrives, in milliseconds. */
  idleMs: number;
  /** Timeout of a connection, in milliseconds. */
  connectMs: number;
}

const defaultLimits: FetchLimits = {
  wireBytes: 16 * 1024 * 1024,
  bytes: 16 * 1024 * 1024,
  totalMs: 20_000,
  minBytesPerSecond: 1024,
  slowMs: 10_000,
  idleMs: 10_000,
  connectMs: 5_000,
};

/** Options for createHttpFetcher(). */
export interface HttpFetcherOptions {
  origins: Origins;
  clock: Clock;
  log: Log;
  userAgent: string;
  limits?: Partial<FetchLimits>;
  /**
   * Returns the maximum bytes of a market's page, encoded and decoded, if less than `limits` allow.
   */
  maxPageBytes?: (market: string) => number;
  /** Resolves the host names of stores named by callers; `dns.lookup` by default. */
  resolve?: ResolveName;
  /** Signs requests to the markets with `sign`; must be given if there are any. */
  signRequest?: SignRequest | undefined;
}

/** Fetches pages of all markets. */
export interface Fetcher {
  /**
   * Returns a function that fetches pages of one market and region, without following redirects. It
   * rejects with the signal's reason if aborted. Bodies are reserved in `share` before they are
   * decoded; the caller releases them.
   */
  for(market: string, region: string, signal?: AbortSignal, share?: PageShare): FetchPage;
  /**
   * Returns the scheme, host, and port of a request's target. Throws `origin_missing` or
   * `address_refused`.
   */
  originOf: ResolveOrigin;
  /** Discards the cookies of a market's region, because the site blocked their session. */
  discardSession(market: string, region: string): void;
  /** Closes all connections. */
  close(): Promise<void>;
}

/** Shared parts of a fetcher. */
interface FetcherContext
  extends Pick<HttpFetcherOptions, 'origins' | 'clock' | 'log' | 'userAgent' | 'signRequest'> {
  limits: FetchLimits;
  maxPageBytes(market: string): number;
  dispatchers: Dispatchers;
  resolveOrigin: ResolveOrigin;
  cookies: CookieStore;
}

/**
 * Creates a fetcher that uses HTTP: persistent connections, decoding within limits, cookies per
 * origin, no credentials, an honest User-Agent, and the market's proxy. The addresses of stores
 * named by callers are checked when the connection is made. Redirects are returned as responses.
 */
export function createHttpFetcher(options: HttpFetcherOptions): Fetcher {
  const { origins, clock, log, userAgent, resolve, signRequest } = options;
  const limits = { ...defaultLimits, ...options.limits };
  const maxPageBytes = options.maxPageBytes ?? (() => limits.bytes);
  const dispatchers = createDispatchers({ ...limits, origins, resolve });
  const resolveOrigin = createOriginResolver(origins);
  const cookies = createCookieStore();
  const context = {
    origins,
    clock,
    log,
    userAgent,
    signRequest,
    limits,
    maxPageBytes,
    dispatchers,
    resolveOrigin,
    cookies,
  };
  return {
    originOf: resolveOrigin,
    for: (market, region, signal, share) => createFetchPage(context, market, region, signal, share),
    discardSession: (market, region) => cookies.drop(market, region),
    close: dispatchers.close,
  };
}

function createFetchPage(
  context: FetcherContext,
  market: string,
  region: string,
  signal: AbortSignal | undefined,
  share: PageShare | undefined,
): FetchPage {
  const { origins, limits, log, dispatchers } = context;
  return async (request) => {
    if (signal?.aborted) throw signal.reason;
    const isGuarded = request.origin !== undefined && !origins.get(market)?.allowPrivate;
    const dispatcher = dispatchers.select(market, isGuarded);
    const started = startRequest(context, market, region, request, dispatcher);
    let aborted: { reason: unknown } | undefined;
    const abort = (reason: unknown) => {
      aborted ??= { reason };
      started.exchange.abort(aborted.reason);
    };
    const stopWatching = watchTransfer(started.exchange, limits, abort);
    const stopListening = signal && onAbort(signal, () => abort(signal.reason));
    try {
      return await receiveResponse(context, started, stopWatching, share, signal);
    } catch (error) {
      if (signal?.aborted) throw signal.reason;
      const name = request.origin ?? originName(market, region);
      const fault = networkFault(aborted ? aborted.reason : error, name);
      log.debug(
        {
          market,
          region,
          path: request.path,
          code: fault.code,
          err: fault.cause,
        },
        fault.message,
      );
      throw fault;
    } finally {
      stopWatching();
      stopListening?.();
    }
  };
}

/** Returns the name of the origin of a region, for messages: "mkta/sg". */
const originName = (market: string, region: string): string =>
  region === '' ? market : `${market}/${region}`;

/** A request in progress. */
interface StartedRequest {
  exchange: HttpExchange;
  scope: SessionScope;
  url: string;
  maxBytes: number;
}

function startRequest(
  { origins, limits, maxPageBytes, resolveOrigin, cookies, userAgent, signRequest }: FetcherContext,
  market: string,
  region: string,
  request: PageRequest,
  dispatcher: Dispatcher,
): StartedRequest {
  const maxBytes = Math.min(limits.bytes, maxPageBytes(market));
  if (!request.path.startsWith('/')) throw new Fault('internal', `${request.path} is not a path`);
  const origin = resolveOrigin(market, region, request);
  const scope = { market, region, origin };
  const { path, method = 'GET', body = null } = request;
  const url = origin + path;
  const cookie = cookies.header(scope, url, request.preferences);
  const headers = {
    'user-agent': userAgent,
    'accept-encoding': acceptedEncodings,
    ...(cookie === undefined ? {} : { cookie }),
    ...request.headers,
    ...(origins.get(market)?.sign ? signRequest!(method, url) : {}),
  };
  const maxWireBytes = Math.min(limits.wireBytes, maxBytes);
  const exchange = sendRequest(
    dispatcher,
    {
      origin,
      path,
      method,
      headers,
      body,
    },
    maxWireBytes,
  );
  return { exchange, scope, url, maxBytes };
}

async function receiveResponse(
  { clock, cookies }: FetcherContext,
  { exchange, scope, url, maxBytes }: StartedRequest,
  stopWatching: () => void,
  share: PageShare | undefined,
  signal: AbortSignal | undefined,
): Promise<PageResponse> {
  const { status, headers, cookies: setCookies, body: wireBody } = await exchange.response;
  stopWatching();
  cookies.save(scope, url, setCookies);
  const encoding = headers['content-encoding'];
  // The length of an encoded body is only known after it is decoded.
  await share?.reserve(encoding === undefined ? wireBody.length : maxBytes, signal);
  const body = encoding === undefined ? wireBody : await decodeBody(wireBody, encoding, maxBytes);
  share?.shrink(body.length);
  return { status, headers, body, url, at: clock.now() };
}
