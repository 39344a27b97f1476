import type { IncomingMessage, ServerResponse } from 'node:http';
import type { DescField, DescMethod, Message } from '@bufbuild/protobuf';
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
import { contentLength, hasBody, readJsonText, requireForm, streamBody } from './request/body.ts';
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
export function endpointServer(endpoint: ServedEndpoint, serving: Serving): Serve {
  const { caller, onAuthenticated } = serving;
  const { method } = endpoint;
  const readCall = callReader(endpoint, serving);
  const respond = endpoint.streams
    ? streamResponder(endpoint)
    : messageResponder(endpoint, serving);

  return async (exchange, segments, variables, form) => {
    const { request } = exchange;
    const session = await caller.authenticate(request.headers as Headers, method);
    admit(exchange, session);
    onAuthenticated(request, session.userId);
    using memory = new DisposableStack();
    try {
      const matched = { segments, variables, form };
      const endpointCall = await readCall(exchange, session, matched, memory);
      const call: CallMethod = async (context = endpointCall.context) => {
        try {
          return await session.call(unary(method), endpointCall.message, context);
        } finally {
          copyHeaders(exchange, endpointCall.context.responseHeaders, session);
        }
      };
      const { problems, context } = endpointCall;
      if (problems.length > 0)
        throw endpoint.takesOptions ? await refusalOf(problems, context, call) : invalid(problems);
      await respond({ ...endpointCall, exchange, session, form, call });
    } catch (error) {
      addHeaders(exchange, await countRequest(session));
      throw error;
    }
  };
}

/** Calls the method of an endpoint, by default with the context of the request. */
type CallMethod = (context?: CallContext) => Promise<Message>;

/** A request without problems, and the call that it makes. */
interface Response extends EndpointCall {
  exchange: Exchange;
  session: Session;
  /** Index of the form of the path that matched. */
  form: number;
  call: CallMethod;
}

/** Reads a call. Adds the release of the memory that its body takes to `memory`. */
type ReadCall = (
  exchange: Exchange,
  session: Session,
  matched: Matched,
  memory: DisposableStack,
) => Promise<EndpointCall>;

/** Creates the reader of the message and the context of a call, and of a request's problems. */
function callReader(
  endpoint: ServedEndpoint,
  { budget, locate, onLongRequest }: Pick<Serving, 'budget' | 'locate' | 'onLongRequest'>,
): ReadCall {
  const readRequest = requestReader(endpoint);
  const isRepeatable = locate !== undefined || endpoint.isRepeatable;
  const isGet = endpoint.verb === 'GET';

  const beginLong = ({ request, response }: Exchange, account: string, waitMs: number) => {
    const kind = longKindOf(endpoint.method, waitMs);
    if (kind === null) return undefined;
    return onLongRequest(request, response, { account, kind });
  };

  return async (exchange, { userId }, { segments, variables }, memory) => {
    const { request, requestId, signal } = exchange;
    const headers = request.headers as Headers;
    const query = queryOf(request.url ?? '');
    const idempotencyKey = isRepeatable ? headers['idempotency-key'] : undefined;
    const problems = idempotencyKey === undefined ? [] : problemsOfIdempotencyKey(idempotencyKey);
    const waitMs = endpoint.waits ? readWaitMs(query, problems) : 0;
    const submitOptions = endpoint.takesOptions ? readOptions(query, problems) : undefined;
    const parts: RequestParts = {
      segments,
      query,
      problems,
      isStrict: readIsStrict(headers, problems),
    };
    const reserve = async () => {
      const bytes = bodyBytes(request, endpoint);
      if (bytes > smallBodyBytes) memory.defer(await budget.reserve(userId, bytes, signal));
    };
    await readInto(parts, exchange, endpoint, reserve);
    const result = readRequest(parts, variables);
    addHeaders(exchange, result.headers);
    const allProblems = result.problems ?? [];
    const context: CallContext = {
      requestId,
      idempotencyKey,
      submitOptions,
      signal,
      waitMs,
      early: allProblems.length > 0 ? undefined : await beginLong(exchange, userId, waitMs),
      ifNoneMatch: isGet ? headers['if-none-match'] : undefined,
      responseHeaders: {},
    };
    return { message: result.message, context, problems: allProblems };
  };
}

type Respond = (response: Response) => Promise<void>;

/** Creates the responder of an endpoint that streams its body. */
function streamResponder({ method, successStatus }: ServedEndpoint): Respond {
  return async ({ exchange, session, message, context }) => {
    const pieces: AsyncIterable<unknown> = session.stream(unary(method), message, context);
    // endpointOf() allows streams of google.api.HttpBody only.
    const body = pieces as AsyncIterable<BodyPiece>;
    await sendStream(exchange, successStatus, body, context.responseHeaders);
  };
}

/** Creates the responder of an endpoint with one message. */
function messageResponder(
  endpoint: ServedEndpoint,
  { cache, locate, isVolatile }: Pick<Serving, 'cache' | 'locate' | 'isVolatile'>,
): Respond {
  const { method, successStatus } = endpoint;
  const write = writeOnce(messageWriter(method.output));
  const respondCached = endpoint.cached && cache && cachedResponder(endpoint, cache, write);
  const wholeField = wholeBodyField(method.output);
  const isGet = endpoint.verb === 'GET';
  const hasStableText = isGet && isStable(method.output, isVolatile);

  return async (response) => {
    const { exchange, session, message, context, form, call } = response;
    if (respondCached && !session.isUncached) return respondCached(response);
    const output = await call();
    const text = write(output);
    if (isGet) {
      const ownTag = hasStableText ? textTag(text) : undefined;
      const tag = context.responseHeaders[tagHeader] ?? ownTag;
      return sendTagged(exchange, successStatus, text, tag);
    }
    const replacement = wholeField && wholeBodyOf(wholeField, output);
    if (replacement !== undefined) return sendJson(exchange, 200, text);
    const location = locate && { location: locate(output, form, message) };
    return sendJson(exchange, successStatus, text, location);
  };
}

/** Creates the responder of an endpoint whose responses are cached. */
function cachedResponder(
  { method, path, successStatus }: ServedEndpoint,
  cache: ResponseCache,
  write: (message: Message) => string,
): Respond {
  const cached = cache.of(method.output);
  const writeRequest = messageWriter(method.input);
  return async ({ exchange, session, message, context, call }) => {
    const { responseHeaders, waitMs } = context;
    const key = `${session.userId} ${path} ${writeRequest(message)}`;
    const make = async () => ({ message: await call(), tag: responseHeaders[tagHeader] });
    const cacheable = { key, waits: waitMs > 0, make, write };
    const { text, tag, maxAgeSeconds } = await cached(cacheable);
    const cacheControl = `private, max-age=${maxAgeSeconds}`;
    addHeaders(exchange, await countRequest(session));
    await sendTagged(exchange, successStatus, text, tag, { 'cache-control': cacheControl });
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

/** Returns true if unknown fields are problems. Adds the problem of an invalid value. */
function readIsStrict(headers: Headers, problems: Problem[]): boolean {
  const isStrict = readStrict(headers['x-strict']);
  if (typeof isStrict === 'boolean') return isStrict;
  problems.push(isStrict);
  return false;
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

/** Returns the size of a body after its decompression, or the maximum if it is unknown. */
function bodyBytes(request: IncomingMessage, { maxBodyBytes }: ServedEndpoint): number {
  const isSized = request.headers['content-encoding'] === undefined && contentLength(request) > 0;
  return isSized ? Math.min(contentLength(request), maxBodyBytes) : maxBodyBytes;
}

/** Reads the body of a request into its parts, if its endpoint takes one. */
async function readInto(
  parts: RequestParts,
  { request, response }: Exchange,
  { body, queryOnly, multipart, maxBodyBytes }: ServedEndpoint,
  reserve: () => Promise<void>,
): Promise<void> {
  const readsBody = body !== '' || queryOnly.length > 0;
  if (!readsBody || !hasBody(request)) return;
  await reserve();
  if (multipart) {
    requireForm(request.headers['content-type']);
    parts.form = await readForm(request.headers, streamBody(request, response, maxBodyBytes));
    return;
  }
  const json = await readJsonText(request, response, maxBodyBytes);
  if (json !== null) parts.json = json;
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
