import type { Socket } from 'node:net';
import { Agent, buildConnector, type Dispatcher } from 'undici';
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

/** Start of an interim response: every status below 200 but `101 Switching Protocols`. */
const interimStart = /^HTTP\/1\.[01] 1(?!01)\d\d$/;
const example = 'HTTP/1.1 100';
const headEnd = '\r\n\r\n';
/** Maximum size of an interim response, in bytes. */
const maxHeadBytes = 16 * 1024;

/**
 * Creates a connector of undici that skips interim responses, which a client must accept at any
 * time (RFC 9110, section 15.2). undici takes `100 Continue` for an error.
 */
export function createConnector(options: buildConnector.BuildOptions): buildConnector.connector {
  return skipInterimResponses(buildConnector(options));
}

/** Adds what createConnector() does to another connector. */
function skipInterimResponses(connect: buildConnector.connector): buildConnector.connector {
  return (options, callback) =>
    connect(options, (...result) => {
      const [error, socket] = result;
      if (error === null && !isHttp2(socket)) filterReads(socket);
      callback(...result);
    });
}

const isHttp2 = (socket: Socket): boolean =>
  (socket as { alpnProtocol?: string | false | null }).alpnProtocol === 'h2';

/**
 * Removes interim responses from what is read of a connection. A response starts with the first
 * bytes after a request was written, because requests are not pipelined.
 */
function filterReads(socket: Socket): void {
  const read = socket.read.bind(socket);
  const write = socket.write.bind(socket) as (...parameters: unknown[]) => boolean;
  let isStart = true;
  let held: Buffer = Buffer.alloc(0);
  socket.write = (...parameters: unknown[]) => {
    isStart = true;
    return write(...parameters);
  };
  socket.read = (size?: number) => {
    const chunk = read(size) as Buffer | null;
    if (!isStart || chunk === null) return chunk;
    held = withoutInterim(held.length === 0 ? chunk : Buffer.concat([held, chunk]));
    if (mayBeInterim(held)) return null;
    isStart = false;
    const rest = held;
    held = Buffer.alloc(0);
    return rest;
  };
}

/** Returns the bytes after all complete interim responses. */
function withoutInterim(bytes: Buffer): Buffer {
  let rest = bytes;
  while (rest.length >= example.length && mayBeInterim(rest)) {
    const end = rest.indexOf(headEnd);
    if (end < 0) break;
    rest = rest.subarray(end + headEnd.length);
  }
  return rest;
}

/** Returns true if bytes are, or can become, an interim response. */
function mayBeInterim(bytes: Buffer): boolean {
  const start = bytes.toString('latin1', 0, example.length);
  return bytes.length <= maxHeadBytes && interimStart.test(start + example.slice(start.length));
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
 * https sites that offer it.
 */
export function createDispatchers({
  origins,
  connectMs,
  idleMs,
  resolve,
}: DispatcherOptions): Dispatchers {
  const lookup = guardedLookup(resolve);
  const createAgent = (connect: buildConnector.connector) =>
    new Agent({
      headersTimeout: idleMs,
      bodyTimeout: idleMs,
      maxHeaderSize: maxHeaderBytes,
      allowH2: true,
      connect,
    });
  const common = { allowH2: true, preferH2: true, timeout: connectMs };
  const direct = {
    open: createAgent(createConnector(common)),
    guarded: createAgent(createConnector({ ...common, lookup })),
  };
  const proxied = new Map(
    [...origins].flatMap(([market, { proxy }]) => {
      if (proxy === undefined) return [];
      const open = createAgent(skipInterimResponses(createProxyConnector(proxy, { connectMs })));
      const guarded = createAgent(
        skipInterimResponses(createProxyConnector(proxy, { connectMs, lookup })),
      );
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
