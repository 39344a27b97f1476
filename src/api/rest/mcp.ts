import { create, type DescMethod, type Message } from '@bufbuild/protobuf';
import { createMcpHandler } from '@modelcontextprotocol/server';
import express, { type Request as HttpRequest, type RequestHandler } from 'express';
import {
  addHeaders,
  admit,
  type Exchange,
  sendFault,
  sendJson,
} from '../../../gateway/request-context.ts';
import { type GetJobRequest, type Job, JobService } from '../../../gen/gleaner/job/v1/job_pb.ts';
import { MktaService } from '../../../gen/gleaner/mkta/v1/mkta_pb.ts';
import type { HttpBody } from '../../../gen/google/api/httpbody_pb.ts';
import { acceptRequest, beginLongRequest } from '../../base/connections.ts';
import type { Log } from '../../base/log.ts';
import { abortResponse } from '../../contract/abort-response.ts';
import { smallBodyBytes } from '../../contract/body-limit.ts';
import type {
  CallContext,
  Caller,
  GatewayBudget,
  GatewayClock,
  Headers,
  Session,
} from '../../contract/caller.ts';
import { Fault } from '../../contract/fault.ts';
import { type Budget, ceilingBudget, perSubmitBudget, unlimitedBudget } from '../mcp/budget.ts';
import type { ToolCaller } from '../mcp/call-tool.ts';
import { createMcpServer } from '../mcp/server.ts';
import {
  type McpSessions,
  maxMessageBytes,
  mcpSessions,
  protocolHeaders,
  readMessage,
  sendResult,
  sessionHeader,
} from './mcp-session.ts';
import { isSameOrigin } from './session.ts';

/** Options of serveMcp(). */
export interface McpServing {
  caller: Caller;
  budget: GatewayBudget;
  clock: GatewayClock;
  publicUrl: () => string;
  /** Origins whose pages may call it; `*`: every origin. */
  corsOrigins: readonly string[];
  version: string;
  log: Log;
  /** Creates the server of a request. Default: the one with the tools of the service. */
  createServer?: typeof createMcpServer;
}

/** Path of the Model Context Protocol. */
const path = '/mcp';

/** Options of the server of one request. */
interface McpCall {
  session: Session;
  exchange: Exchange;
  budget: Budget;
}

/**
 * Serves the tools over streamable HTTP at `/mcp`: each POST is authenticated by its API key before
 * its body is read, and answered by its own server, so that any process can answer it. Only
 * requests with a budget have sessions. Throws `forbidden` for a page of another origin or a host
 * name that is not this service's, those of the caller, `malformed` for anything but one JSON-RPC
 * message, `not_found` for an unknown session.
 */
export function serveMcp(serving: McpServing): RequestHandler {
  const { caller, budget, publicUrl } = serving;
  const calls = new WeakMap<object, McpCall>();
  const handler = createHandler(serving, calls);
  const serve = async (request: HttpRequest, exchange: Exchange): Promise<void> => {
    const { response } = exchange;
    requireOwnHost(request, publicUrl());
    requireAllowedOrigin(request, serving);
    const session = await caller.authenticate(request.headers as Headers);
    acceptRequest(request, session.userId);
    admit(exchange, session);
    if (session.count) addHeaders(exchange, await session.count());
    await beginLongRequest(request, response, { account: session.userId, kind: 'agent' });
    const maxCredits = readCredits(request, 'max_credits');
    const sessionUse = sessionUseOf(request, readCredits(request, 'budget'));
    const sessions = sessionsOf(serving, request, session, exchange);
    if (request.method === 'DELETE' && sessionUse.kind === 'resume') {
      await sessions.end(sessionUse.id);
      response.writeHead(204).end();
      return;
    }
    if (request.method !== 'POST') {
      sendMethodNotAllowed(exchange, sessionUse.kind === 'none' ? 'POST' : 'POST, DELETE');
      return;
    }
    using memory = new DisposableStack();
    memory.defer(await budget.reserve(session.userId, maxMessageBytes, exchange.signal));
    const message = await readMessage(request, () => requireSubmit(session));
    const limitedSession =
      sessionUse.kind === 'resume' ? await sessions.open(sessionUse.id) : session;
    if (sessionUse.kind === 'start') {
      const id = await startSession(sessions, message, sessionUse.credits);
      response.setHeader(sessionHeader, id);
    }
    const callBudget = budgetOf(maxCredits, sessionUse);
    await handle(request, message, { session: limitedSession, exchange, budget: callBudget });
  };
  const handle = async (
    request: HttpRequest,
    parsedBody: unknown,
    call: McpCall,
  ): Promise<void> => {
    const authInfo = { token: '', clientId: call.session.userId, scopes: [] };
    calls.set(authInfo, call);
    const { exchange } = call;
    const webRequest = new Request(`${publicUrl()}${path}`, {
      method: 'POST',
      headers: protocolHeaders(request),
      signal: exchange.signal,
    });
    await sendResult(exchange, await handler.fetch(webRequest, { authInfo, parsedBody }));
  };
  const router = express.Router();
  router.all(path, (request, response) => {
    const exchange = response.locals.exchange as Exchange;
    exchange.route = path;
    return serve(request, exchange).catch((error) => {
      if (response.headersSent) abortResponse(response);
      else sendFault(exchange, error);
    });
  });
  return router;
}

/**
 * Creates the handler of the protocol, whose servers get what they need from the `authInfo` of a
 * request.
 */
const createHandler = (
  { version, log, clock, createServer = createMcpServer }: McpServing,
  calls: WeakMap<object, McpCall>,
) =>
  createMcpHandler(
    ({ authInfo, era }) => {
      const { session, exchange, budget } = calls.get(authInfo!)!;
      return createServer({
        caller: toolCaller(session, exchange),
        budget,
        version,
        era,
        now: () => clock.now(),
        onError: (error, tool) => log.error({ err: error, tool }, 'tool failed'),
      });
    },
    {
      maxSubscriptions: 1,
      onerror: (error) => log.debug({ err: error }, 'protocol error'),
    },
  );

/**
 * Throws the fault `too_large` for a caller who may not submit jobs: only submits have more than 64
 * KB.
 */
async function requireSubmit(session: Session): Promise<void> {
  if ((await session.allows?.(MktaService.method.submitVariantSold)) !== false) return;
  const limit = `The message has more than ${smallBodyBytes} bytes`;
  throw new Fault('too_large', `${limit}, the maximum for a key without the scope 'submit'.`);
}

/**
 * Throws the fault `forbidden` for a connection from this machine with another host name: a page
 * whose name was changed to this machine's address (DNS rebinding) has an origin that looks like
 * the service's.
 */
function requireOwnHost({ headers, socket }: HttpRequest, publicUrl: string): void {
  if (!isLoopback(socket.localAddress ?? '')) return;
  const host = `http://${headers.host ?? ''}`;
  const name = URL.canParse(host) ? new URL(host).hostname : '';
  if (name === 'localhost' || isLoopback(name) || name === new URL(publicUrl).hostname) return;
  throw new Fault(
    'forbidden',
    `The host "${name}" is not that of this service (GLEANER_PUBLIC_URL).`,
  );
}

const isLoopback = (address: string): boolean =>
  /^(?:::ffff:)?127(?:\.\d{1,3}){3}$/.test(address) || /^\[?::1\]?$/.test(address);

/** Throws the fault `forbidden` for the page of another origin. */
function requireAllowedOrigin(request: HttpRequest, { corsOrigins, publicUrl }: McpServing): void {
  const { origin } = request.headers;
  if (origin === undefined || corsOrigins.includes('*') || corsOrigins.includes(origin)) return;
  if (!isSameOrigin(request, publicUrl()))
    throw new Fault('forbidden', 'Pages of this origin may not call the API.');
}

/** How a request uses sessions: not at all, to start one, or to resume the one that it names. */
type SessionUse =
  | { kind: 'none' }
  | { kind: 'start'; credits: number }
  | { kind: 'resume'; id: string };

/** Returns the session use of a request with the `budget` of its address. */
function sessionUseOf({ headers }: HttpRequest, credits: number | null): SessionUse {
  // Without a budget there are no sessions, so that the id of one has no meaning.
  if (credits === null) return { kind: 'none' };
  const id = headers[sessionHeader] as string | undefined;
  if (id === undefined) return { kind: 'start', credits };
  return { kind: 'resume', id };
}

const sessionsOf = (
  { caller, clock }: McpServing,
  { headers }: HttpRequest,
  session: Session,
  exchange: Exchange,
): McpSessions =>
  mcpSessions({
    caller,
    headers: headers as Headers,
    session,
    context: contextOf(exchange, exchange.signal),
    now: clock.now(),
  });

/**
 * Starts the session of an `initialize`. Returns its id. Throws `malformed` for another message,
 * which has no session.
 */
function startSession(sessions: McpSessions, message: object, credits: number): Promise<string> {
  if ((message as { method?: unknown }).method === 'initialize') return sessions.start(credits);
  throw new Fault(
    'malformed',
    'A budget needs a session: send initialize (protocol version 2025-11-25 or ' +
      'earlier) first, and the Mcp-Session-Id of its response with every other message.',
  );
}

/** Returns the limits of a request that the key does not enforce. */
function budgetOf(maxCredits: number | null, { kind }: SessionUse): Budget {
  if (maxCredits !== null) return perSubmitBudget(maxCredits);
  return kind === 'none' ? unlimitedBudget : ceilingBudget;
}

const contextOf = ({ requestId }: Exchange, signal: AbortSignal): CallContext => ({
  requestId,
  idempotencyKey: undefined,
  signal,
  waitMs: 0,
  ifNoneMatch: undefined,
  responseHeaders: {},
});

/** Calls the service with the session of a request. */
function toolCaller(session: Session, exchange: Exchange): ToolCaller {
  return {
    async call(method: DescMethod, request: Message, { signal, onProgress, ...properties }) {
      const context = { ...contextOf(exchange, signal), ...properties };
      if (onProgress === undefined) return session.call(method, request as never, context);
      await watchJob(session, request, context, onProgress);
      return session.call(method, request as never, { ...context, waitMs: 0 });
    },
    async *results(jobId, signal) {
      const method = JobService.method.streamResults;
      const request = create(method.input, { jobId });
      for await (const { data } of session.stream(
        method,
        request,
        contextOf(exchange, signal),
      ) as AsyncIterable<HttpBody>)
        yield data;
    },
    // The key of a session counts.
    costOf: async () => 0,
  };
}

/** Watches a job until it has ended or the wait of the call has expired. */
async function watchJob(
  session: Session,
  request: Message,
  context: CallContext,
  onProgress: (job: Job) => void,
): Promise<void> {
  const expired = AbortSignal.timeout(context.waitMs);
  const signal = AbortSignal.any([context.signal, expired]);
  const watch = JobService.method.watchJob;
  try {
    const states = session.stream(watch, request as GetJobRequest, {
      ...context,
      waitMs: 0,
      signal,
    });
    for await (const job of states) onProgress(job);
  } catch (error) {
    if (!expired.aborted || context.signal.aborted) throw error;
  }
}

/**
 * Reads a query parameter with credits: `max_credits` of each job, or the `budget` of a session.
 */
function readCredits({ query }: HttpRequest, name: string): number | null {
  const text = query[name];
  if (text === undefined) return null;
  const value = Number(text);
  if (typeof text === 'string' && /^\d{1,9}$/.test(text)) return value;
  throw Fault.invalid(
    ['query', name],
    'Value must be an integer from 0 to 999999999',
    'value_error',
  );
}

function sendMethodNotAllowed(exchange: Exchange, allowed: string): void {
  exchange.response.setHeader('allow', allowed);
  const error = { code: -32000, message: 'Method not allowed.' };
  sendJson(exchange, 405, JSON.stringify({ jsonrpc: '2.0', error, id: null }));
}
