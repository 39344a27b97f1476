import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { create, type DescMethod, type Message } from '@bufbuild/protobuf';
import { createMcpHandler } from '@modelcontextprotocol/server';
import express, { type Request as HttpRequest, type RequestHandler } from 'express';
import type { Caller, GatewayBudget, Headers, Session } from '../../gateway/caller.ts';
import { addHeaders, admit, type Exchange, sendFault, sendJson } from '../../gateway/exchange.ts';
import { JobService } from '../../gen/gleaner/job/v1/job_pb.ts';
import type { HttpBody } from '../../gen/google/api/httpbody_pb.ts';
import { acceptRequest } from '../base/connections.ts';
import type { Log } from '../base/log.ts';
import { Fault } from '../contract/fault.ts';
import { perSubmitBudget, unlimitedBudget } from '../mcp/budget.ts';
import type { ToolCaller } from '../mcp/call-tool.ts';
import { createMcpServer } from '../mcp/server.ts';
import { isSameOrigin } from './session-cookie.ts';

/** Options of serveMcp(). */
export interface McpServing {
  caller: Caller;
  budget: GatewayBudget;
  publicUrl: () => string;
  /** Origins whose pages may call it; `*`: every origin. */
  corsOrigins: readonly string[];
  version: string;
  log: Log;
}

/** Path of the Model Context Protocol. */
const path = '/mcp';

/** Maximum bytes of a message. Larger submits use the REST API. */
const maxMessageBytes = 4 * 1024 * 1024;

/** What the server of one request needs. */
interface McpCall {
  session: Session;
  exchange: Exchange;
  maxCredits: number | null;
}

/**
 * Serves the tools over streamable HTTP at `/mcp`, without sessions: each POST is authenticated by its API key before its
 * body is read, and answered by a server of its own, so that any process can answer it. Faults: `forbidden` for a page of
 * another origin, those of the caller, `malformed` for anything but one JSON-RPC message.
 */
export function serveMcp({
  caller,
  budget,
  publicUrl,
  corsOrigins,
  version,
  log,
}: McpServing): RequestHandler {
  const calls = new WeakMap<object, McpCall>();
  const handler = createMcpHandler(
    ({ authInfo }) => {
      const { session, exchange, maxCredits } = calls.get(authInfo!)!;
      return createMcpServer({
        caller: toolCaller(session, exchange),
        budget: maxCredits === null ? unlimitedBudget : perSubmitBudget(maxCredits),
        version,
        onError: (error, tool) => log.error({ err: error, tool }, 'tool failed'),
      });
    },
    {
      responseMode: 'json',
      maxSubscriptions: 1,
      onerror: (error) => log.debug({ err: error }, 'protocol error'),
    },
  );
  const serve = async (request: HttpRequest, exchange: Exchange): Promise<void> => {
    const { response } = exchange;
    const { origin } = request.headers;
    const isAllowed = corsOrigins.includes('*') || (origin !== undefined && corsOrigins.includes(origin));
    if (origin !== undefined && !isAllowed && !isSameOrigin(request, publicUrl()))
      throw new Fault('forbidden', 'Pages of this origin may not call the API.');
    const session = await caller.authenticate(request.headers as Headers);
    acceptRequest(request);
    admit(exchange, session);
    if (session.count) addHeaders(response, await session.count());
    if (request.method !== 'POST') return sendMethodNotAllowed(exchange);
    const maxCredits = readMaxCredits(request);
    const release = await budget.reserve(session.userId, maxMessageBytes, exchange.signal);
    try {
      const parsedBody = await readMessage(request);
      const authInfo = { token: '', clientId: session.userId, scopes: [] };
      calls.set(authInfo, { session, exchange, maxCredits });
      const { signal } = exchange;
      const sent = new Request(`${publicUrl()}${path}`, {
        method: 'POST',
        headers: headersOf(request),
        signal,
      });
      const result = await handler.fetch(sent, { authInfo, parsedBody });
      await respond(result, exchange);
    } finally {
      release();
    }
  };
  const router = express.Router();
  router.all(path, (request, response) => {
    const exchange = response.locals.exchange as Exchange;
    exchange.route = path;
    return serve(request, exchange).catch((error) => {
      if (response.headersSent) response.destroy();
      else sendFault(exchange, error);
    });
  });
  return router;
}

/** Calls the service with the session of a request. */
function toolCaller(session: Session, { requestId }: Exchange): ToolCaller {
  const contextOf = (signal: AbortSignal) => ({
    requestId,
    idempotencyKey: undefined,
    signal,
    waitMs: 0,
    ifNoneMatch: undefined,
    responseHeaders: {},
  });
  return {
    call: (method: DescMethod, request: Message, { signal, ...properties }) =>
      session.call(method, request as never, { ...contextOf(signal), ...properties }) as Promise<Message>,
    async *results(jobId, signal) {
      const method = JobService.method.streamResults;
      const request = create(method.input, { jobId });
      for await (const { data } of session.stream(
        method,
        request,
        contextOf(signal),
      ) as AsyncIterable<HttpBody>)
        yield data;
    },
    // Without a session there is no budget over several submits.
    costOf: async () => 0,
  };
}

/** Reads the query parameter `max_credits`: the maximum cost of each job. */
function readMaxCredits({ query }: HttpRequest): number | null {
  const text = query.max_credits;
  if (text === undefined) return null;
  const value = Number(text);
  if (typeof text === 'string' && /^\d{1,9}$/.test(text)) return value;
  throw Fault.invalid(
    ['query', 'max_credits'],
    'Value must be an integer from 0 to 999999999',
    'value_error',
  );
}

/** Reads a body of one JSON-RPC message. Faults `malformed`, `body_too_large`. */
async function readMessage(request: HttpRequest): Promise<unknown> {
  if (request.headers['content-encoding'] !== undefined)
    throw new Fault('malformed', 'Messages must be sent without Content-Encoding.');
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > maxMessageBytes)
      throw new Fault('too_large', `The message has more than ${maxMessageBytes} bytes.`);
    chunks.push(chunk);
  }
  let message: unknown;
  try {
    message = JSON.parse(Buffer.concat(chunks).toString('utf8'));
  } catch {
    throw new Fault('malformed', 'The body is not valid JSON.');
  }
  // A batch would be many calls that the rate limit counts as one.
  if (typeof message !== 'object' || message === null || Array.isArray(message))
    throw new Fault('malformed', 'The body must be one JSON-RPC message.');
  return message;
}

/** Returns the headers that the protocol uses. Credentials stay here. */
function headersOf({ headers }: HttpRequest): Record<string, string> {
  return Object.fromEntries(
    Object.entries(headers).filter(
      (entry): entry is [string, string] =>
        typeof entry[1] === 'string' && /^(?:accept|content-type|mcp-.+)$/.test(entry[0]),
    ),
  );
}

async function respond(result: Response, { response }: Exchange): Promise<void> {
  response.statusCode = result.status;
  for (const [name, value] of result.headers) response.setHeader(name, value);
  response.setHeader('cache-control', 'no-store');
  if (result.body === null) response.end();
  else await pipeline(Readable.fromWeb(result.body as never), response);
}

function sendMethodNotAllowed(exchange: Exchange): void {
  exchange.response.setHeader('allow', 'POST');
  const error = { code: -32000, message: 'Method not allowed.' };
  sendJson(exchange, 405, JSON.stringify({ jsonrpc: '2.0', error, id: null }));
}
