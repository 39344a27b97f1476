import type { IncomingMessage, ServerResponse } from 'node:http';
import { tagHeader } from '../src/contract/answer-headers.ts';
import { namesTag } from '../src/contract/etag.ts';
import { Fault } from '../src/contract/fault.ts';
import { requestIdHeader, requestIdOf } from '../src/contract/request-id.ts';
import { encode, leastBytes, preferredEncoding } from './answer/content-encoding.ts';
import { errorAnswer } from './answer/errors.ts';
import type { GatewayClock, GatewayLog, Session } from './caller.ts';
import { contentLength, hasBody } from './request/body.ts';

/** One request and its answer. */
export interface Exchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  /** The caller's `x-request-id` where it is sane, else a new one. */
  readonly requestId: string;
  readonly log: GatewayLog;
  /** Aborted when the client goes away before the answer is whole. */
  readonly signal: AbortSignal;
  /** Path template that matched, for the access log. */
  route: string | undefined;
  userId: string | undefined;
}

/** Starts an exchange; one access-log line follows when its answer is out or its client gone. */
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
    requestId,
    log,
    signal: abort.signal,
    route: undefined,
    userId: undefined,
  };
  response.setHeader(requestIdHeader, requestId);
  response.setHeader('x-content-type-options', 'nosniff');
  response.once('close', () => {
    const whole = response.writableFinished;
    if (!whole) abort.abort(new Fault('unavailable', 'The client went away'));
    log.info(
      {
        requestId,
        method: request.method,
        ...(exchange.route === undefined ? { path: pathOf(request) } : { route: exchange.route }),
        status: response.statusCode,
        ms: clock.now() - started,
        userId: exchange.userId,
        ...(whole ? {} : { aborted: true }),
      },
      'request',
    );
  });
  return exchange;
}

/** Path without its query, which may hold secrets; cut, since anybody can send any. */
function pathOf(request: IncomingMessage): string {
  return (request.url ?? '').split('?', 1)[0]!.slice(0, 200);
}

/** Records the caller of an exchange and sets the headers of every response to it. */
export function admit(exchange: Exchange, { userId, headers }: Pick<Session, 'userId' | 'headers'>): void {
  exchange.userId = userId;
  if (headers !== undefined) addHeaders(exchange.response, headers);
}

/** Adds headers to an answer whose headers are not out yet. */
export function addHeaders(response: ServerResponse, headers: Readonly<Record<string, string>>): void {
  for (const name in headers) response.setHeader(name, headers[name]!);
}

/** Answers with a JSON text, in an encoding that the client takes. */
export function answerJson(
  exchange: Exchange,
  status: number,
  text: string,
  headers: Readonly<Record<string, string>> = {},
): void {
  const { response } = exchange;
  response.statusCode = status;
  response.setHeader('content-type', 'application/json');
  response.setHeader('cache-control', 'no-store');
  addHeaders(response, headers);
  sendContent(exchange, text);
}

/** As answerJson, with the tag of the text; a client that has it already gets 304 without a body. */
export function answerTagged(
  exchange: Exchange,
  status: number,
  text: string,
  tag: string | undefined,
  headers: Readonly<Record<string, string>> = {},
): void {
  const { request, response } = exchange;
  if (tag !== undefined) response.setHeader(tagHeader, tag);
  if (tag === undefined || !namesTag(request.headers['if-none-match'], tag)) {
    answerJson(exchange, status, text, headers);
    return;
  }
  response.setHeader('cache-control', 'no-store');
  response.setHeader('vary', 'accept-encoding');
  addHeaders(response, headers);
  response.statusCode = 304;
  response.end();
}

/**
 * Ends an answer with its content, status and headers being set: in br or gzip where the client takes one
 * and there is 1 KB of it that gets smaller by it, and with the length of what is sent.
 */
export function sendContent(exchange: Exchange, content: string | Buffer, compressible = true): void {
  const { request, response } = exchange;
  const length = Buffer.byteLength(content);
  // What is smaller is the same for every client.
  if (length >= leastBytes) response.setHeader('vary', 'accept-encoding');
  if (hasBody(request) && !request.complete) {
    response.setHeader('content-length', length);
    endBeforeBody(request, response, content);
    return;
  }
  const encoding =
    compressible && length >= leastBytes ? preferredEncoding(request.headers['accept-encoding']) : undefined;
  if (encoding === undefined) {
    response.setHeader('content-length', length);
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
    (error) => response.destroy(error),
  );
}

/** Answers with an error; an `internal` one is logged with what it says. */
export function answerFault(exchange: Exchange, thrown: unknown): void {
  const { requestId, response, log } = exchange;
  const fault = Fault.from(thrown);
  if (response.destroyed) return;
  if (fault.code === 'internal') log.error({ requestId, err: fault.cause ?? fault }, 'request failed');
  else if (fault.code === 'unavailable') log.warn({ requestId, err: fault }, 'request failed');
  if (response.headersSent) {
    // Half an answer is out: only a broken connection tells the client that it is not whole.
    response.destroy();
    return;
  }
  const { status, headers, body } = errorAnswer(fault, requestId);
  answerJson(exchange, status, body, headers);
}

const lingerMs = 5000;
const lingerBytes = 64 * 1024 * 1024;
const smallBytes = 1024 * 1024;

/**
 * Answers while the client may still be sending. A connection closed under it would be reset and the
 * answer lost, so the rest is read and dropped for a while first.
 */
function endBeforeBody(request: IncomingMessage, response: ServerResponse, content: string | Buffer): void {
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
