import { isUtf8 } from 'node:buffer';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { setImmediate } from 'node:timers/promises';
import type { DescField, DescMethod, Message } from '@bufbuild/protobuf';
import { checkJsonSize } from '../src/contract/body-content.ts';
import { smallBodyBytes } from '../src/contract/body-limit.ts';
import type {
  CallContext,
  Caller,
  GatewayBudget,
  Headers,
  LongRequestKind,
  Session,
} from '../src/contract/caller.ts';
import { Fault, type Problem } from '../src/contract/fault.ts';
import { problemsOfIdempotencyKey } from '../src/contract/idempotency-key.ts';
import { messageWriter, wholeBodyField, wholeBodyOf } from '../src/contract/json/message-writer.ts';
import { maxProblems } from '../src/contract/problem-texts.ts';
import { mergeProblems } from '../src/contract/problems.ts';
import { readSubmitOptions } from '../src/contract/read-submit-options.ts';
import { type ResponseHeaders, tagHeader, timingHeader } from '../src/contract/response-headers.ts';
import { quoteOptions, type SubmitOptions } from '../src/contract/submit-options.ts';
import { readWait } from '../src/contract/wait.ts';
import { isStable, type ServedEndpoint } from './endpoint.ts';
import type { Variable } from './paths/parse.ts';
import { contentLength, hasBody, readBody, streamBody } from './request/body.ts';
import { readForm } from './request/form.ts';
import { type RequestParts, readStrict, requestReader } from './request/request-reader.ts';
import {
  addHeaders,
  admit,
  type Exchange,
  sendJson,
  sendTagged,
  textTag,
} from './request-context.ts';
import type { Locate } from './response/location.ts';
import type { ResponseCache } from './response/response-cache.ts';
import { type BodyPiece, sendStream } from './response/stream.ts';

/** Throws the fault `unsupported_media` for a body that is not JSON in UTF-8. */
export function requireJson(contentType: string | undefined): void {
  const [type, ...parameters] = (contentType ?? '').toLowerCase().split(';');
  const charset = parameters
    .map((parameter) => /^charset\s*=\s*"?([^"\s]*)"?$/.exec(parameter.trim())?.[1])
    .find(Boolean);
  if (
    !/^application\/([a-z0-9.!#$&^_-]+\+)?json$/.test(type!.trim()) ||
    (charset !== undefined && !/^utf-?8$/.test(charset))
  ) {
    throw unsupported(contentType, 'application/json');
  }
}

/** Throws the fault `unsupported_media` for a body that is not a form. */
export function requireForm(contentType: string | undefined): void {
  if (!/^multipart\/form-data\s*(;|$)/i.test(contentType?.trim() ?? ''))
    throw unsupported(contentType, 'multipart/form-data');
}

function unsupported(mediaType: string | undefined, supportedTypes: string): Fault {
  const what =
    mediaType === undefined
      ? 'Content-Type is missing'
      : `Content-Type ${mediaType} is not supported`;
  return new Fault('unsupported_media', `${what}: send ${supportedTypes}`);
}

/** Dependencies of endpointServer(). */
export interface Serving {
  caller: Caller;
  budget: GatewayBudget;
  cache: ResponseCache | undefined;
  /**
   * Returns the path of what a response created, or undefined for endpoints that create nothing and
   * take no idempotency key.
   */
  locate: Locate | undefined;
  /** Returns true if a field differs between responses while nothing changes. */
  isVolatile: (field: DescField) => boolean;
  /** Called with a request whose caller is authenticated, before its body is read. */
  onAuthenticated: (request: IncomingMessage, userId: string) => void;
  /**
   * Called with a request that may last long, before its call. Resolves with a signal that ends its
   * wait early. Rejects with a fault if too many are in progress.
   */
  onLongRequest: OnLongRequest;
}

/** Observer of the requests that may last long. */
export type OnLongRequest = (
  request: IncomingMessage,
  response: ServerResponse,
  by: { account: string; kind: LongRequestKind },
) => Promise<AbortSignal> | undefined;

/**
 * Serves a request, given the segments of its path, percent-decoded, and the index of its path
 * form.
 */
export type Serve = (
  exchange: Exchange,
  segments: readonly string[],
  variables: readonly Variable[],
  form: number,
) => Promise<void>;

/**
 * Creates the handler of an endpoint: authenticate before the body is read, check media type and
 * size, parse, call, respond. Faults are thrown.
 */
export function endpointServer(
  endpoint: ServedEndpoint,
  { caller, budget, cache, locate, isVolatile, onAuthenticated, onLongRequest }: Serving,
): Serve {
  const { method, successStatus } = endpoint;
  const readRequest = requestReader(endpoint);
  const write = endpoint.streams ? undefined : writeOnce(messageWriter(method.output));
  const wholeField = wholeBodyField(method.output);
  const cached = endpoint.cached ? cache?.of(method.output) : undefined;
  const writeRequest = cached && messageWriter(method.input);
  const isRepeatable = locate !== undefined || endpoint.isRepeatable;
  const gets = endpoint.verb === 'GET';
  const stable = gets && isStable(method.output, isVolatile);

  const beginLong = (
    { request, response }: Exchange,
    { userId: account }: Session,
    waitMs: number,
  ) => {
    const kind = longKindOf(method, waitMs);
    return kind === null ? undefined : onLongRequest(request, response, { account, kind });
  };

  /** Reads the message and the context of a call, and the problems of the request. */
  const readCall = async (
    exchange: Exchange,
    session: Session,
    { segments, variables }: Matched,
  ): Promise<EndpointCall> => {
    const { request, requestId, signal } = exchange;
    const headers = request.headers as Headers;
    const query = queryOf(request.url ?? '');
    const idempotencyKey = isRepeatable ? headers['idempotency-key'] : undefined;
    const problems = idempotencyKey === undefined ? [] : problemsOfIdempotencyKey(idempotencyKey);
    const waitMs = endpoint.waits ? readWaitMs(query, problems) : 0;
    const submitOptions = endpoint.takesOptions ? readOptions(query, problems) : undefined;
    const strict = readStrict(headers['x-strict']);
    if (typeof strict !== 'boolean') problems.push(strict);
    const parts: RequestParts = {
      segments,
      query,
      problems,
      isStrict: strict === true,
    };
    const reserve = () => reserveBody(exchange, endpoint, session.userId, budget);
    await readInto(parts, exchange, endpoint, reserve);
    const {
      message,
      headers: ignoredHeaders,
      problems: found = [],
    } = readRequest(parts, variables);
    addHeaders(exchange, ignoredHeaders);
    const context: CallContext = {
      requestId,
      idempotencyKey,
      submitOptions,
      signal,
      waitMs,
      early: found.length > 0 ? undefined : await beginLong(exchange, session, waitMs),
      ifNoneMatch: gets ? headers['if-none-match'] : undefined,
      responseHeaders: {},
    };
    return { message, context, problems: found };
  };

  const sendOutput = (exchange: Exchange, output: Message, call: EndpointCall, form: number) => {
    const text = write!(output);
    if (gets) {
      const tag = call.context.responseHeaders[tagHeader] ?? (stable ? textTag(text) : undefined);
      return sendTagged(exchange, successStatus, text, tag);
    }
    const replacement = wholeField && wholeBodyOf(wholeField, output);
    if (replacement !== undefined) return sendJson(exchange, 200, text);
    const location = locate && { location: locate(output, form, call.message) };
    return sendJson(exchange, successStatus, text, location);
  };

  const respond = async (exchange: Exchange, session: Session, matched: Matched) => {
    const endpointCall = await readCall(exchange, session, matched);
    const { message, context, problems } = endpointCall;
    const { responseHeaders, waitMs } = context;
    const call = async (callContext = context) => {
      try {
        return await session.call(unary(method), message, callContext);
      } finally {
        copyHeaders(exchange, responseHeaders, session);
      }
    };
    if (problems.length > 0) {
      throw endpoint.takesOptions ? await refusalOf(problems, context, call) : invalid(problems);
    }
    if (write === undefined) {
      const pieces: AsyncIterable<unknown> = session.stream(unary(method), message, context);
      // endpointOf() allows streams of google.api.HttpBody only.
      const body = pieces as AsyncIterable<BodyPiece>;
      return sendStream(exchange, successStatus, body, responseHeaders);
    }
    if (cached !== undefined && !session.isUncached) {
      const key = `${session.userId} ${endpoint.path} ${writeRequest!(message)}`;
      const make = async () => ({ message: await call(), tag: responseHeaders[tagHeader] });
      const { text, tag, maxAgeSeconds } = await cached(key, waitMs > 0, make, write);
      const cacheControl = `private, max-age=${maxAgeSeconds}`;
      addHeaders(exchange, await countRequest(session));
      return sendTagged(exchange, successStatus, text, tag, { 'cache-control': cacheControl });
    }
    return sendOutput(exchange, await call(), endpointCall, matched.form);
  };

  return async (exchange, segments, variables, form) => {
    const { request } = exchange;
    const session = await caller.authenticate(request.headers as Headers, method);
    admit(exchange, session);
    onAuthenticated(request, session.userId);
    try {
      await respond(exchange, session, { segments, variables, form });
    } catch (error) {
      addHeaders(exchange, await countRequest(session));
      throw error;
    }
  };
}

/** A parsed request to an endpoint. */
interface EndpointCall {
  message: Message;
  context: CallContext;
  /** Problems of the request. The method is called only if there are none. */
  problems: readonly Problem[];
}

/** Returns the wait of a request in milliseconds. Adds the problem of another value, which is 0. */
function readWaitMs(query: URLSearchParams, problems: Problem[]): number {
  if (query === noQuery) return 0;
  const wait = readWait(query.getAll('wait').at(-1), ['query', 'wait']);
  if (typeof wait === 'number') return wait;
  problems.push(wait);
  return 0;
}

/** Adds the headers of a call to its response. */
function copyHeaders(exchange: Exchange, responseHeaders: ResponseHeaders, session: Session): void {
  for (const name in responseHeaders) {
    const value = responseHeaders[name]!;
    // The tag is sent with the response.
    if (name === tagHeader || value === session.headers?.[name]) continue;
    // Measurements read the time from the response when it is closed.
    if (name === timingHeader) exchange.response.setHeader(name, value);
    else addHeaders(exchange, { [name]: value });
  }
}

/** Returns the kind of a request that may last long. Null for another one. */
function longKindOf(method: DescMethod, waitMs: number): LongRequestKind | null {
  if (method.methodKind !== 'unary') return 'stream';
  return waitMs > 0 ? 'wait' : null;
}

/** Returns a writer that keeps the texts of frozen messages, which a service may return again. */
function writeOnce(write: (message: Message) => string): (message: Message) => string {
  const texts = new WeakMap<Message, string>();
  return (message) => {
    if (!Object.isFrozen(message)) return write(message);
    const text = texts.get(message) ?? write(message);
    texts.set(message, text);
    return text;
  };
}

/**
 * Returns the fault of a request with the problems `found`, and those that the service finds in a
 * submission: no rule of the contract expresses them. `call` submits what could be read.
 */
async function refusalOf(
  found: readonly Problem[],
  context: CallContext,
  call: (context: CallContext) => Promise<unknown>,
): Promise<Fault> {
  // A quote has no effect.
  const submitOptions = quoteOptions(context.submitOptions);
  const fault = await call({
    ...context,
    idempotencyKey: undefined,
    waitMs: 0,
    submitOptions,
  }).then(() => null, Fault.from);
  return fault?.code === 'rate_limited'
    ? fault
    : invalid(mergeProblems(found, fault?.problems ?? []));
}

function invalid(problems: readonly Problem[]): Fault {
  const count = problems.length === 1 ? 'a problem' : `${problems.length} problems`;
  return new Fault('invalid', `The request has ${count}`, {
    problems: problems.slice(0, maxProblems),
  });
}

/** Path that matched an endpoint. */
interface Matched {
  segments: readonly string[];
  variables: readonly Variable[];
  form: number;
}

/** Counts a request whose session made no call, and returns headers of its response. */
export async function countRequest(session: Session): Promise<Readonly<Record<string, string>>> {
  return session.count === undefined ? {} : session.count();
}

/** Reserves memory for a body that is, or may become, large, until the response has ended. */
async function reserveBody(
  { request, response, signal }: Exchange,
  { maxBodyBytes }: ServedEndpoint,
  userId: string,
  budget: GatewayBudget,
): Promise<void> {
  const isSized = request.headers['content-encoding'] === undefined && contentLength(request) > 0;
  const bytes = isSized ? Math.min(contentLength(request), maxBodyBytes) : maxBodyBytes;
  if (bytes <= smallBodyBytes) return;
  const release = await budget.reserve(userId, bytes, signal);
  if (response.destroyed) release();
  else response.once('close', release);
}

async function readInto(
  parts: RequestParts,
  { request, response }: Exchange,
  endpoint: ServedEndpoint,
  reserve: () => Promise<void>,
): Promise<void> {
  const readsBody = endpoint.body !== '' || endpoint.queryOnly.length > 0;
  if (!readsBody || !hasBody(request)) return;
  await reserve();
  const limit = endpoint.maxBodyBytes;
  const contentType = request.headers['content-type'];
  if (endpoint.multipart) {
    requireForm(contentType);
    parts.form = await readForm(request.headers, streamBody(request, response, limit));
  } else {
    const isSized = contentLength(request) > 0;
    if (isSized || contentType !== undefined) requireJson(contentType);
    const bytes = await readBody(request, response, limit);
    // A body of unknown length can turn out to be none.
    if (bytes.length === 0) return;
    requireJson(contentType);
    if (bytes.length > smallBodyBytes) {
      // Large bodies are parsed one by one, with other work between them.
      await setImmediate();
      checkJsonSize(bytes);
    }
    parts.json = decodeText(bytes);
  }
}

function queryOf(url: string): URLSearchParams {
  const at = url.indexOf('?');
  return at < 0 ? noQuery : new URLSearchParams(url.slice(at + 1));
}

const noQuery = new URLSearchParams();

/** Returns the options of a submission, and adds the problems of invalid ones. */
function readOptions(query: URLSearchParams, problems: Problem[]): SubmitOptions | undefined {
  if (query === noQuery) return undefined;
  const read = readSubmitOptions(
    ({ name }) => query.getAll(name).at(-1),
    ({ name }) => ['query', name],
  );
  problems.push(...read.problems);
  return read.options;
}

/** Sessions are typed by a method's messages, which are known at run time only. */
type Called = Parameters<Session['call']>[0];

const unary = (method: DescMethod): Called => method as Called;

/**
 * Decodes the text of a body, without a byte order mark. Throws `malformed` for bytes that are not
 * UTF-8.
 */
function decodeText(bytes: Buffer): string {
  if (!isUtf8(bytes)) throw new Fault('malformed', 'The body is not valid UTF-8');
  const start = bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf ? 3 : 0;
  return bytes.toString('utf8', start);
}
