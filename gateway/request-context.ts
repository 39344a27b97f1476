import { hash } from 'node:crypto';
import type { IncomingMessage, OutgoingHttpHeaders, ServerResponse } from 'node:http';
import { abortResponse } from '../src/contract/abort-response.ts';
import type { GatewayClock, GatewayLog, Session } from '../src/contract/caller.ts';
import { namesTag } from '../src/contract/etag.ts';
import { Fault, faultLogLevels } from '../src/contract/fault.ts';
import {
  parseWaited,
  requestIdHeader,
  requestIdOf,
  tagHeader,
  timingHeader,
} from '../src/contract/response-headers.ts';
import { contentLength, hasBody } from './request/body.ts';
import { encode, minBytes, preferredEncoding } from './response/content-encoding.ts';
import { errorBody, errorResponse } from './response/errors.ts';

/** A request and its response. */
export interface Exchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  /**
   * Headers that are sent with the status, which takes a fraction of the time of setting each. Null
   * once they are set.
   */
  pending: OutgoingHttpHeaders | null;
  /** The caller's `x-request-id` if it is valid, otherwise a new one. */
  readonly requestId: string;
  readonly log: GatewayLog;
  /** Aborted when the client disconnects before the response is complete. */
  readonly signal: AbortSignal;
  /** Path template that matched, for the access log. */
  route: string | undefined;
  userId: string | undefined;
}

/**
 * Starts an exchange; writes an access-log line when the response is sent or the client has
 * disconnected. `ms` is the duration without the time that the call waited at the client's request,
 * `waited_ms`.
 */
export function beginExchange(
  request: IncomingMessage,
  response: ServerResponse,
  log: GatewayLog,
  clock: GatewayClock,
): Exchange {
  const requestId = requestIdOf(request.headers[requestIdHeader]);
  const started = clock.now();
  const abort = new AbortController();
  const exchange: Exchange = {
    request,
    response,
    pending: commonHeaders(requestId),
    requestId,
    log,
    signal: abort.signal,
    route: undefined,
    userId: undefined,
  };
  response.once('close', () => {
    const isComplete = response.writableFinished;
    const waitedMs = parseWaited(String(response.getHeader(timingHeader) ?? ''));
    if (!isComplete) abort.abort(new Fault('unavailable', 'The client disconnected.'));
    const { route, userId } = exchange;
    const fields = {
      requestId,
      method: request.method,
      path: route === undefined ? pathOf(request) : undefined,
      route,
      status: response.statusCode,
      ms: Math.max(0, clock.now() - started - waitedMs),
      waited_ms: waitedMs === 0 ? undefined : waitedMs,
      userId,
      aborted: isComplete ? undefined : true,
    };
    log.info(fields, 'request');
  });
  return exchange;
}

/** Returns the headers of every response to a request. */
const commonHeaders = (requestId: string): OutgoingHttpHeaders => ({
  [requestIdHeader]: requestId,
  'x-content-type-options': 'nosniff',
});

/** Returns the path without its query, which may contain secrets, truncated to 200 characters. */
function pathOf(request: IncomingMessage): string {
  return (request.url ?? '').split('?', 1)[0]!.slice(0, 200);
}

/** Records the caller of an exchange and sets the headers of every response to it. */
export function admit(
  exchange: Exchange,
  { userId, headers }: Pick<Session, 'userId' | 'headers'>,
): void {
  exchange.userId = userId;
  if (headers !== undefined) addHeaders(exchange, headers);
}

/** Adds headers to a response whose headers are not sent yet. */
export function addHeaders(
  { response, pending }: Exchange,
  headers: Readonly<OutgoingHttpHeaders>,
): void {
  if (pending !== null) Object.assign(pending, headers);
  else for (const name in headers) response.setHeader(name, headers[name]!);
}

/**
 * Sets the pending headers, and returns the response for code that writes it without sendContent().
 */
export function setHeaders(exchange: Exchange): ServerResponse {
  const { response, pending } = exchange;
  exchange.pending = null;
  if (pending !== null) addHeaders(exchange, pending);
  return response;
}

/** Responds with JSON text, in an encoding that the client accepts. */
export function sendJson(
  exchange: Exchange,
  status: number,
  text: string,
  headers: Readonly<Record<string, string>> = {},
): void {
  exchange.response.statusCode = status;
  addHeaders(exchange, {
    'content-type': 'application/json',
    'cache-control': 'no-store',
    ...headers,
  });
  sendContent(exchange, text);
}

/** Returns a weak entity tag of a response's text, for responses without a tag from the core. */
export function textTag(text: string | Buffer): string {
  return `W/"${hash('sha256', text, 'base64url').slice(0, 22)}"`;
}

/** Returns true if the client has the content with a tag already: its If-None-Match names it. */
export function hasContent({ request }: Exchange, tag: string): boolean {
  const ifNoneMatch = request.headers['if-none-match'];
  return ifNoneMatch !== undefined && namesTag(ifNoneMatch, tag);
}

/**
 * Responds like sendJson(), with an entity tag; a client that has the response already receives 304
 * without a body.
 */
export function sendTagged(
  exchange: Exchange,
  status: number,
  text: string,
  tag: string | undefined,
  headers: Readonly<Record<string, string>> = {},
): void {
  if (tag !== undefined) addHeaders(exchange, { [tagHeader]: tag });
  if (tag === undefined || !hasContent(exchange, tag)) {
    sendJson(exchange, status, text, headers);
    return;
  }
  addHeaders(exchange, { 'cache-control': 'no-store', ...headers });
  const response = setHeaders(exchange);
  response.appendHeader('vary', 'accept-encoding');
  response.writeHead(304).end();
}

/**
 * Sends the content of a response whose status and headers are set. Compressible content of 1 KB
 * and more is sent in br or gzip if the client accepts one.
 */
export function sendContent(
  exchange: Exchange,
  content: string | Buffer,
  { isCompressible = true } = {},
): void {
  const { request, response, pending } = exchange;
  const length = Buffer.byteLength(content);
  // Smaller content is never encoded, so it does not vary.
  const varies = length >= minBytes;
  const isEarly = hasBody(request) && !request.complete;
  const encoding =
    isCompressible && varies && !isEarly
      ? preferredEncoding(request.headers['accept-encoding'])
      : undefined;
  if (encoding === undefined) addHeaders(exchange, { 'content-length': length });
  if (pending !== null && encoding === undefined && !isEarly && !response.hasHeader('vary')) {
    if (varies) pending.vary = 'accept-encoding';
    // An invalid header must not prevent the response that reports it.
    exchange.pending = commonHeaders(exchange.requestId);
    response.writeHead(response.statusCode, pending).end(content);
    return;
  }
  setHeaders(exchange);
  if (varies) response.appendHeader('vary', 'accept-encoding');
  if (isEarly) {
    endBeforeBody(request, response, content);
    return;
  }
  if (encoding === undefined) {
    response.end(content);
    return;
  }
  response.setHeader('content-encoding', encoding);
  if (request.method === 'HEAD') {
    response.end();
    return;
  }
  encode(Buffer.from(content as string), encoding).then(
    (bytes) => {
      if (response.destroyed) return;
      response.setHeader('content-length', bytes.length);
      response.end(bytes);
    },
    () => abortResponse(response),
  );
}

/** Responds with an error. Internal errors and unavailable components are logged. */
export function sendFault(exchange: Exchange, thrown: unknown): void {
  const { requestId, response, log } = exchange;
  const fault = Fault.from(thrown);
  if (response.destroyed) return;
  const level = faultLogLevels[fault.code];
  const reported = fault.code === 'internal' ? (fault.cause ?? fault) : fault;
  if (level !== undefined) log[level]({ requestId, err: reported }, 'request failed');
  if (fault.unknownOutcome) {
    // An error response would say that nothing has happened.
    abortResponse(response);
    return;
  }
  if (response.headersSent) {
    // Only a broken connection tells the client that the response is incomplete.
    abortResponse(response);
    return;
  }
  const { status, headers, body } = errorResponse(fault, requestId);
  sendJson(exchange, status, body, headers);
}

const lingerMs = 5000;
const lingerBytes = 64 * 1024 * 1024;
const smallBytes = 1024 * 1024;

/**
 * Responds while the client may still be sending. Closing the connection immediately would reset it
 * and lose the response, so the rest of the body is read and discarded for a while.
 */
function endBeforeBody(
  request: IncomingMessage,
  response: ServerResponse,
  content: string | Buffer,
): void {
  const length = contentLength(request);
  if (length > 0 && length <= smallBytes && request.headers.expect === undefined) {
    response.end(content);
    return;
  }
  response.setHeader('connection', 'close');
  if (request.headers.expect !== undefined) {
    response.end(content);
    return;
  }
  response.write(request.method === 'HEAD' ? '' : content);
  const end = () => {
    clearTimeout(timer);
    response.end();
  };
  const timer = setTimeout(end, lingerMs);
  timer.unref();
  let dropped = 0;
  request.on('data', (chunk: Buffer) => {
    dropped += chunk.length;
    if (dropped > lingerBytes) end();
  });
  request.once('end', end).once('close', end);
  request.resume();
}

/**
 * Responds to OPTIONS with the methods of a path, and to any other method with 405 and the same
 * list.
 */
export function sendMethods(exchange: Exchange, methods: readonly string[]): void {
  const { request, requestId } = exchange;
  const allow = [...methods, ...(methods.includes('GET') ? ['HEAD'] : []), 'OPTIONS'].join(', ');
  addHeaders(exchange, { allow });
  if (request.method === 'OPTIONS') {
    setHeaders(exchange).writeHead(204).end();
    return;
  }
  const detail = `The path has no ${request.method}: it has ${allow}`;
  sendJson(exchange, 405, errorBody(detail, 'method_not_allowed', requestId));
}
