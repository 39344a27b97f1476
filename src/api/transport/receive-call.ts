import type { IncomingHttpHeaders } from 'node:http';
import type { DescMethod } from '@bufbuild/protobuf';
import { Code, ConnectError } from '@connectrpc/connect';
import type { UniversalServerRequest } from '@connectrpc/connect/protocol';
import { compressionBrotli, compressionGzip } from '@connectrpc/connect-node';
import type { BodyBudget } from '../../contract/body-budget.ts';
import { isComplete } from '../../telemetry/metrics.ts';
import { type RpcExchange, type RpcRequest, type RpcResponse, valuesOf } from './exchange.ts';
import { unaryBody } from './request-body.ts';

export const compressions = [compressionGzip, compressionBrotli];

export interface ReceiveOptions {
  method: DescMethod;
  /** Maximum size of a message of the method, in bytes. */
  limit: number;
  budget: BodyBudget;
}

/**
 * Converts a request for the handlers of Connect. Returns null if its authority is missing or
 * malformed. Large bodies are read within the memory budget.
 */
export function receiveCall(
  exchange: RpcExchange,
  options: ReceiveOptions,
): UniversalServerRequest | null {
  const { request, response } = exchange;
  const authority = 'authority' in request ? request.authority : request.headers.host;
  const url = `http://${authority}${request.url}`;
  if (authority === undefined || !URL.canParse(url)) return null;
  removeLongTimeout(request.headers);
  discardRest(request, response);
  const header = protocolHeadersOf(request.headers);
  const signal = createLeaveSignal(response);
  const isUnary = options.method.methodKind === 'unary' && request.method === 'POST';
  return {
    httpVersion: request.httpVersion,
    method: request.method!,
    url,
    header,
    body: isUnary ? bodyOf(exchange, header, signal, options) : streamOf(request),
    signal,
    contextValues: valuesOf(exchange),
  };
}

/** Returns the body of a unary call, which reserves memory for its user. */
function bodyOf(
  exchange: RpcExchange,
  header: Headers,
  signal: AbortSignal,
  { method, limit, budget }: ReceiveOptions,
): AsyncIterable<Uint8Array<ArrayBuffer>> {
  const reserve = async (bytes: number) => {
    const release = await budget.reserve(exchange.userId, bytes, signal);
    if (signal.aborted) release();
    else exchange.response.once('close', release);
  };
  return unaryBody(exchange.request, header, {
    limit,
    input: method.input,
    compressions,
    reserve,
    signal,
  });
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
 * from the request. The length of a body is checked where it is read.
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
