import { Agent, type Dispatcher } from 'undici';
import type { Origins } from '../base/origins.ts';
import { Fault } from '../contract/fault.ts';
import { guardedLookup, type ResolveName } from './address.ts';
import { createProxyConnector } from './proxy.ts';

/** A response with its body still encoded. */
export interface WireResponse {
  status: number;
  /** Headers by lower-case name, without `set-cookie`; repeated values are joined with commas. */
  headers: Record<string, string>;
  /** Values of the `set-cookie` headers. */
  cookies: readonly string[];
  body: Buffer;
}

/** A request in progress. */
export interface HttpExchange {
  /**
   * Rejects with the errors of undici and the socket, the reason of `abort`, or `page_too_large`.
   */
  response: Promise<WireResponse>;
  /** Aborts the request; `response` rejects with the reason. */
  abort(reason: unknown): void;
  /**
   * Returns the bytes of the body received so far, and the milliseconds since its headers; 0 before
   * them.
   */
  received(): { bytes: number; ms: number };
}

/** Maximum size of the headers of a response, in bytes of names and values. */
const maxHeaderBytes = 64 * 1024;

type Request = Dispatcher.DispatchOptions & { origin: string };

function joinValues(
  headers: Record<string, string | string[] | undefined>,
): Record<string, string> {
  const result: Record<string, string> = {};
  for (const name in headers) {
    const value = headers[name];
    // Cookies are returned separately: their values may contain commas.
    if (value !== undefined && name !== 'set-cookie')
      result[name] = Array.isArray(value) ? value.join(', ') : value;
  }
  return result;
}

/**
 * Returns the size of headers in bytes. For HTTP/2, undici limits only the size of each header, and
 * their number to 128.
 */
function headerBytes(headers: Record<string, string | string[] | undefined>): number {
  let bytes = 0;
  for (const name in headers) {
    const value = headers[name];
    if (typeof value === 'string') bytes += name.length + value.length;
    else for (const each of value ?? []) bytes += name.length + each.length;
  }
  return bytes;
}

/**
 * Sends a request and collects its response, with a body of up to `limit` bytes and headers of up
 * to 64 KB. It handles undici's events directly, because a stream and an abort signal per request
 * would dominate the cost.
 */
export function sendRequest(dispatcher: Dispatcher, request: Request, limit: number): HttpExchange {
  const { promise, resolve, reject } = Promise.withResolvers<WireResponse>();
  const chunks: Buffer[] = [];
  let length = 0;
  let status = 0;
  let startedAt: number | null = null;
  let headers: Record<string, string> = {};
  let cookies: readonly string[] = [];
  let controller: Dispatcher.DispatchController | null = null;
  let aborted: { reason: unknown } | null = null;

  const abort = (reason: unknown) => {
    aborted ??= { reason };
    // undici requires an Error, but the caller may pass any reason.
    controller?.abort(reason instanceof Error ? reason : new Error('aborted'));
    reject(reason);
  };
  dispatcher.dispatch(request, {
    onRequestStart(started) {
      controller = started;
      if (aborted) abort(aborted.reason);
    },
    onResponseStart(_controller, statusCode, received) {
      // 1xx: the final response follows.
      if (statusCode < 200) return;
      if (headerBytes(received) > maxHeaderBytes) {
        return abort(new Fault('page_too_large', 'the headers of the response are too large'));
      }
      status = statusCode;
      startedAt = performance.now();
      headers = joinValues(received);
      const set = received['set-cookie'];
      if (set !== undefined) cookies = Array.isArray(set) ? set : [set];
    },
    onResponseData(_controller, chunk) {
      length += chunk.length;
      if (length > limit)
        abort(new Fault('page_too_large', `the page is larger than ${limit} bytes`));
      else chunks.push(chunk);
    },
    onResponseEnd() {
      const body = chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks, length);
      resolve({ status, headers, cookies, body });
    },
    onResponseError(_controller, error) {
      reject(error);
    },
  });
  const received = () => ({
    bytes: length,
    ms: startedAt === null ? 0 : performance.now() - startedAt,
  });
  return { response: promise, abort, received };
}

/** Connections to sites: direct, or through the proxies of markets. */
export interface Dispatchers {
  /** Returns the connections of a market. If `guarded`, they reach only the public internet. */
  select(market: string, guarded: boolean): Dispatcher;
  /** Closes all connections. */
  close(): Promise<void>;
}

/** Options for createDispatchers(). */
export interface DispatcherOptions {
  origins: Origins;
  /** Timeouts of a connection and of a connection without data, in milliseconds. */
  connectMs: number;
  idleMs: number;
  resolve?: ResolveName | undefined;
}

/**
 * Creates pools of persistent connections, one for direct ones and one per proxy, with HTTP/2 for
 * https sites that job type it.
 */
export function createDispatchers({
  origins,
  connectMs,
  idleMs,
  resolve,
}: DispatcherOptions): Dispatchers {
  const lookup = guardedLookup(resolve);
  const createAgent = (connect: NonNullable<Agent.Options['connect']>) =>
    new Agent({
      connectTimeout: connectMs,
      headersTimeout: idleMs,
      bodyTimeout: idleMs,
      maxHeaderSize: maxHeaderBytes,
      allowH2: true,
      connect,
    });
  const direct = {
    open: createAgent({ preferH2: true }),
    guarded: createAgent({ preferH2: true, lookup, timeout: connectMs }),
  };
  const proxied = new Map(
    [...origins].flatMap(([market, { proxy }]) => {
      if (proxy === undefined) return [];
      const open = createAgent(createProxyConnector(proxy, { connectMs }));
      const guarded = createAgent(createProxyConnector(proxy, { connectMs, lookup }));
      return [[market, { open, guarded }] as const];
    }),
  );
  return {
    select: (market, guarded) => (proxied.get(market) ?? direct)[guarded ? 'guarded' : 'open'],
    close: async () => {
      const agents = [direct, ...proxied.values()].flatMap(({ open, guarded }) => [open, guarded]);
      await Promise.all(agents.map((agent) => agent.destroy()));
    },
  };
}
