import type { IncomingHttpHeaders } from 'node:http';
import { Code, ConnectError } from '@connectrpc/connect';
import type { UniversalServerRequest } from '@connectrpc/connect/protocol';
import { isComplete } from '../../telemetry/metrics.ts';
import { type RpcExchange, type RpcRequest, type RpcResponse, valuesOf } from './exchange.ts';

/** A received call, whose body is unread. */
export interface ReceivedCall {
  exchange: RpcExchange;
  url: string;
  /** Aborts when the client leaves. */
  signal: AbortSignal;
}

/** Receives a call. Returns null if the authority of its request is missing or malformed. */
export function receiveCall(exchange: RpcExchange): ReceivedCall | null {
  const { request, response } = exchange;
  const authority = 'authority' in request ? request.authority : request.headers.host;
  const url = `http://${authority}${request.url}`;
  if (authority === undefined || !URL.canParse(url)) return null;
  removeLongTimeout(request.headers);
  discardRest(request, response);
  return { exchange, url, signal: createLeaveSignal(response) };
}

/** Converts a call for the handlers of Connect. */
export function universalRequest({ exchange, url, signal }: ReceivedCall): UniversalServerRequest {
  const { request } = exchange;
  return {
    httpVersion: request.httpVersion,
    method: request.method!,
    url,
    header: protocolHeadersOf(request.headers),
    body: streamOf(request),
    signal,
    contextValues: valuesOf(exchange),
  };
}

/** Returns a body as a stream, which stays open when its reader ends. */
const streamOf = (request: RpcRequest): AsyncIterable<Uint8Array<ArrayBuffer>> => ({
  [Symbol.asyncIterator]: () => request.iterator({ destroyOnReturn: false }),
});

/**
 * Discards the part of a body that a refused call does not read, after the response: a client that
 * waits to send it would not read the response, and closing the connection would lose the response.
 */
function discardRest(request: RpcRequest, response: RpcResponse): void {
  // The response of HTTP/2 emits this only once the stream is closed.
  ('stream' in response ? response.stream : response).once('finish', () => request.resume());
}

/** Returns a signal that aborts when the client leaves before it has the response. */
function createLeaveSignal(response: RpcResponse): AbortSignal {
  const left = new AbortController();
  response.once('close', () => {
    if (!isComplete(response)) left.abort(new ConnectError('The client has left.', Code.Canceled));
  });
  return left.signal;
}

/** Names of headers that Connect reads, and their prefixes. */
const protocolHeaders = /^(?:content-type|content-encoding|accept-encoding|(?:connect|grpc)-.*)$/;

/**
 * Returns the headers that Connect reads and copies for each call. Handlers read all other headers
 * from the request.
 */
function protocolHeadersOf(headers: IncomingHttpHeaders): Headers {
  const header = new Headers();
  for (const name in headers)
    if (protocolHeaders.test(name)) header.append(name, headers[name] as string);
  return header;
}

/** Longest timer of Node, in milliseconds: 24 days. A longer one would end at once. */
const maxTimerMs = 2 ** 31 - 1;

/** Milliseconds by unit of a gRPC timeout that may be longer; Connect's timeout has no unit. */
const unitMs: Readonly<Record<string, number>> = {
  H: 3_600_000,
  M: 60_000,
  S: 1_000,
  '': 1,
};

/** Removes the timeout of a call if it is too long for a timer. */
function removeLongTimeout(headers: IncomingHttpHeaders): void {
  for (const name of ['grpc-timeout', 'connect-timeout-ms']) {
    const timeout = headers[name];
    if (typeof timeout !== 'string') continue;
    const [, count, unit = ''] = /^(\d{1,10})([HMS]?)$/.exec(timeout) ?? [];
    if (Number(count) * unitMs[unit]! > maxTimerMs) delete headers[name];
  }
}
