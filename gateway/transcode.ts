import type { DescMethod } from '@bufbuild/protobuf';
import type { Problem } from '../src/base/fault.ts';
import { quote } from '../src/base/problems.ts';
import type { AnswerCache } from './answer-cache.ts';
import { hasBody, readBody, streamBody } from './body.ts';
import type { CallContext, Caller, Headers, Session } from './caller.ts';
import type { Endpoint } from './endpoint.ts';
import { answerJson, type Exchange } from './exchange.ts';
import { readForm } from './form.ts';
import { decodeText } from './json-body.ts';
import { requireForm, requireJson } from './media-type.ts';
import { messageWriter } from './message-writer.ts';
import type { Variable } from './parse.ts';
import type { RateLimit } from './rate-limit.ts';
import { type RequestParts, requestReader } from './request-reader.ts';
import { answerStream } from './stream.ts';

/** What every endpoint is served with. */
export interface Serving {
  caller: Caller;
  /** Largest body of a method that names no limit itself, in bytes. */
  maxBodyBytes: number;
  rateLimit: RateLimit | undefined;
  cache: AnswerCache | undefined;
}

/** Serves one request, given the segments of its path, percent-decoded. */
export type Serve = (
  exchange: Exchange,
  segments: readonly string[],
  variables: readonly Variable[],
) => Promise<void>;

/**
 * Derives how an endpoint is served: authenticate, before the body is read; media type; size; parse;
 * call; answer. Faults are thrown.
 */
export function endpointServer(
  endpoint: Endpoint,
  { caller, maxBodyBytes, rateLimit, cache }: Serving,
): Serve {
  const { method } = endpoint;
  const readRequest = requestReader(endpoint);
  const write = endpoint.streams ? undefined : messageWriter(method.output);
  const limit = endpoint.maxBodyBytes ?? maxBodyBytes;
  const writeRequest = messageWriter(method.input);
  const answers = endpoint.cached ? cache?.of(method.output) : undefined;

  return async (exchange, segments, variables) => {
    const { request } = exchange;
    const headers = request.headers as Headers;
    const session = await caller.authenticate(headers);
    exchange.userId = session.userId;
    rateLimit?.(headers.authorization ?? '');

    const parts: RequestParts = { segments, query: queryOf(request.url ?? ''), problems: [] };
    const idempotencyKey = endpoint.verb === 'GET' ? undefined : headers['idempotency-key'];
    if (idempotencyKey !== undefined) parts.problems = problemsOfKey(idempotencyKey);
    await readInto(parts, exchange, endpoint, limit);
    const message = readRequest(parts, variables);
    const context: CallContext = { requestId: exchange.requestId, idempotencyKey, signal: exchange.signal };

    if (write === undefined) {
      await answerStream(exchange, endpoint.successStatus, session.stream(unary(method), message, context));
      return;
    }
    if (answers !== undefined) {
      const key = `${session.userId} ${endpoint.path} ${writeRequest(message)}`;
      const { text, maxAgeSeconds } = await answers(
        key,
        () => session.call(unary(method), message, context),
        write,
      );
      answerJson(exchange, endpoint.successStatus, text, {
        'cache-control': `private, max-age=${maxAgeSeconds}`,
      });
      return;
    }
    answerJson(exchange, endpoint.successStatus, write(await session.call(unary(method), message, context)));
  };
}

async function readInto(
  parts: RequestParts,
  { request, response }: Exchange,
  endpoint: Endpoint,
  limit: number,
): Promise<void> {
  if (endpoint.body === '') return;
  const contentType = request.headers['content-type'];
  if (endpoint.multipart) {
    requireForm(contentType);
    parts.form = await readForm(request.headers, streamBody(request, response, limit));
  } else if (hasBody(request)) {
    requireJson(contentType);
    parts.json = decodeText(await readBody(request, response, limit));
  }
}

function queryOf(url: string): URLSearchParams {
  const at = url.indexOf('?');
  return at < 0 ? noQuery : new URLSearchParams(url.slice(at + 1));
}

const noQuery = new URLSearchParams();

function problemsOfKey(key: string): Problem[] {
  if (/^[\x21-\x7e]{1,255}$/.test(key)) return [];
  const loc = ['header', 'idempotency-key'];
  if (key.length > 255)
    return [{ loc, type: 'string_too_long', msg: 'String should have at most 255 characters' }];
  return [
    {
      loc,
      type: 'string_pattern_mismatch',
      msg: `Input should be 1 to 255 visible ASCII characters, not ${quote(key)}`,
    },
  ];
}

/** Sessions are typed by the method's messages, which only the descriptor knows here. */
type Called = Parameters<Session['call']>[0];

const unary = (method: DescMethod): Called => method as Called;
