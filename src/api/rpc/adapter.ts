import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Http2ServerRequest, Http2ServerResponse } from 'node:http2';
import {
  Code,
  type ConnectRouter,
  createConnectRouter,
  createContextKey,
  createContextValues,
  type HandlerContext,
} from '@connectrpc/connect';
import {
  compressionBrotli,
  compressionGzip,
  universalRequestFromNodeRequest,
  universalResponseToNodeResponse,
} from '@connectrpc/connect-node';
import { acceptRequest, beginLongRequest, refuseRequest } from '../../base/connections.ts';
import { abortResponse } from '../../contract/abort-response.ts';
import type { BodyBudget } from '../../contract/body-budget.ts';
import { maxBodyBytes } from '../../contract/body-limit.ts';
import type { LongRequestKind } from '../../contract/caller.ts';
import { requestIdHeader, requestIdOf } from '../../contract/request-id.ts';
import { waitMetadata } from '../../contract/wait.ts';
import { isComplete, nameCall } from '../../telemetry/requests.ts';
import { inCallSpan, rpcSystemOf } from '../../telemetry/server-spans.ts';
import { failureKey, methodPath, statusOf } from './call-spans.ts';
import { screenBody } from './request-body.ts';

/** Listener for node:http and node:http2. If no method has the path, calls `next` or responds with 404. */
export type RpcListener = (
  request: IncomingMessage | Http2ServerRequest,
  response: ServerResponse | Http2ServerResponse,
  next?: () => void,
) => void;

/** Options of a route. `requestGate` admits callers by their headers; see createRequestGate(). */
export interface RouteOptions {
  readMaxBytes: number;
  requestGate: (context: HandlerContext) => Promise<void>;
}

const userKey = createContextKey<string | null>(null, { description: 'id of the admitted user' });
const requestKey = createContextKey<Parameters<RpcListener>[0] | null>(null, {
  description: 'the HTTP request',
});

const responseKey = createContextKey<Parameters<RpcListener>[1] | null>(null, {
  description: 'the HTTP response',
});

/** Maximum size of a message to a method without authentication, in bytes. */
export const publicBodyBytes = 4 * 1024;

const compressions = [compressionGzip, compressionBrotli];

/** Ends the wait of a call early. */
const earlyKey = createContextKey<AbortSignal | undefined>(undefined, { description: 'end of the wait' });

/** Returns the signal that ends the wait of a call early, if it has one. */
export const earlyOf = ({ values }: HandlerContext) => values.get(earlyKey);

/** Returns the kind of a call that may last long. Null for another one. */
function longKindOf({ method, requestHeader }: HandlerContext): LongRequestKind | null {
  if (method.methodKind !== 'unary') return method.name.startsWith('Watch') ? 'watch' : 'stream';
  return requestHeader.has(waitMetadata) ? 'wait' : null;
}

/**
 * Creates the request gate of a method. `admit` authenticates the caller by the headers and returns the
 * user's id. Connect calls the gate before it reads the body; an error ends the call with the body unread.
 */
export function createRequestGate(
  admit: (context: HandlerContext) => Promise<string>,
  toError: (context: HandlerContext, error: unknown) => Error,
): RouteOptions['requestGate'] {
  return async (context) => {
    const request = context.values.get(requestKey);
    try {
      const account = await admit(context);
      context.values.set(userKey, account);
      if (request) acceptRequest(request, account);
      const response = context.values.get(responseKey);
      const kind = longKindOf(context);
      if (request && response && kind !== null)
        context.values.set(earlyKey, await beginLongRequest(request, response, { account, kind }));
      // The timeout of the call may be over, or 0 from the start.
      context.signal.throwIfAborted();
    } catch (error) {
      if (request) refuseRequest(request);
      throw toError(context, error);
    }
  };
}

/** Ends a call without a response, as if this process had ended. */
export function dropResponse({ values }: HandlerContext): void {
  const response = values.get(responseKey);
  if (response !== null) abortResponse(response);
}

/** Handlers of methods by path. */
type Handlers = ReadonlyMap<string, ConnectRouter['handlers'][number]>;

function createHandlers(routes: (router: ConnectRouter) => void): Handlers {
  const router = createConnectRouter({
    acceptCompression: compressions,
    // Unknown fields are never read and would cost memory.
    binaryOptions: { readUnknownFields: false },
  });
  routes(router);
  return new Map(router.handlers.map((handler) => [handler.requestPath, handler]));
}

/**
 * Creates the listener that serves routes over gRPC, gRPC-Web and Connect. Large bodies are read within the
 * memory budget.
 */
export function createRpcListener(routes: (router: ConnectRouter) => void, budget: BodyBudget): RpcListener {
  let handlers: Handlers | null = null;
  return (request, response, next) => {
    // Created by the first request: creating all of them takes a twentieth of the start of a service.
    handlers ??= createHandlers(routes);
    const handler = handlers.get((request.url ?? '').split('?', 1)[0]!);
    if (handler === undefined) {
      if (next) next();
      else sendText(response, 404, 'No method has this path. Call /<service>/<method> by POST.');
      return;
    }
    const values = createContextValues().set(requestKey, request).set(responseKey, response);
    let universal: ReturnType<typeof universalRequestFromNodeRequest>;
    try {
      universal = universalRequestFromNodeRequest(request, response, undefined, values);
    } catch {
      // The authority is missing or malformed.
      sendText(response, 400, 'The authority of the request is missing or malformed.');
      return;
    }
    universal = { ...universal, body: readToEnd(request, response) };
    // The gateway's port has set the header already.
    const requestId = requestIdOf(response.getHeader(requestIdHeader) ?? request.headers[requestIdHeader]);
    response.setHeader(requestIdHeader, requestId);
    universal.header.set(requestIdHeader, requestId);
    removeLongTimeout(universal.header);
    const limit = maxBodyBytes(handler.method);
    if (handler.method.methodKind === 'unary' && request.method === 'POST') {
      const reserve = async (bytes: number) => {
        const release = await budget.reserve(values.get(userKey) ?? '', bytes, universal.signal);
        if (response.destroyed) release();
        else response.once('close', release);
      };
      universal = screenBody(universal, { limit, input: handler.method.input, compressions, reserve });
    }
    const call = universal;
    const method = methodPath(handler.method);
    let trailer: Headers | undefined;
    const status = () => values.get(failureKey) ?? finalStatus(response, trailer);
    nameCall(request, { method, system: rpcSystemOf(request.headers['content-type']), status });
    inCallSpan(method, request, response, () => handler(call))
      .then((result) => {
        trailer = result.trailer;
        const message = result.body === undefined ? refusals[result.status] : undefined;
        if (message === undefined) return universalResponseToNodeResponse(result, response);
        result.header?.forEach((value, name) => void response.setHeader(name, value));
        // HTTP requires it, and Connect does not set it.
        if (result.status === 405) response.setHeader('allow', handler.allowedMethods.join(', '));
        sendText(response, result.status, message);
      })
      .catch(() => abortResponse(response));
  };
}

/** Longest timer of Node, in milliseconds: 24 days. A longer one would end at once. */
const maxTimerMs = 2 ** 31 - 1;

/** Milliseconds by unit of a gRPC timeout that may be longer; Connect's timeout has no unit. */
const unitMs: Readonly<Record<string, number>> = { H: 3_600_000, M: 60_000, S: 1_000, '': 1 };

/** Removes the timeout of a call if it is too long for a timer. */
function removeLongTimeout(header: Headers): void {
  for (const name of ['grpc-timeout', 'connect-timeout-ms']) {
    const [, count, unit = ''] = /^(\d{1,10})([HMS]?)$/.exec(header.get(name) ?? '') ?? [];
    if (Number(count) * unitMs[unit]! > maxTimerMs) header.delete(name);
  }
}

/** Connect codes by HTTP status, for calls that Connect rejects before a handler runs. */
const httpStatuses: Readonly<Record<number, Code>> = {
  404: Code.Unimplemented,
  408: Code.DeadlineExceeded,
  429: Code.ResourceExhausted,
  431: Code.ResourceExhausted,
  499: Code.Canceled,
  501: Code.Unimplemented,
  503: Code.Unavailable,
  504: Code.DeadlineExceeded,
};

/** Returns the status of a closed response whose call no handler failed: "OK". */
function finalStatus(response: Parameters<RpcListener>[1], trailer: Headers | undefined): string {
  const { statusCode } = response;
  const grpc = Number(trailer?.get('grpc-status') ?? 0);
  if (grpc in Code) return statusOf(grpc);
  if (statusCode >= 500) return statusOf(httpStatuses[statusCode] ?? Code.Internal);
  if (statusCode >= 400) return statusOf(httpStatuses[statusCode] ?? Code.InvalidArgument);
  return isComplete(response) ? 'OK' : statusOf(Code.Canceled);
}

/**
 * Returns the body of a request. The part that a refused call does not read is discarded after the response:
 * a client that waits to send it would not read the response, and closing the connection would lose the
 * response.
 */
function readToEnd(
  request: Parameters<RpcListener>[0],
  response: Parameters<RpcListener>[1],
): AsyncIterable<Uint8Array<ArrayBuffer>> {
  // The response of HTTP/2 emits this only once the stream is closed.
  ('stream' in response ? response.stream : response).once('finish', () => request.resume());
  return { [Symbol.asyncIterator]: () => request.iterator({ destroyOnReturn: false }) };
}

/** Messages of calls that Connect refuses without a body. */
const refusals: Readonly<Record<number, string>> = {
  405: 'This method takes POST only.',
  415: 'Content-Type is not supported: send application/json, application/proto, application/grpc, or application/grpc-web.',
  505: 'This method needs HTTP/2.',
};

/** Returns the body of an error of Connect, for requests that are malformed. */
export function formatConnectError(status: number, message: string): string {
  const code = httpStatuses[status] ?? Code.InvalidArgument;
  return JSON.stringify({ code: statusOf(code).toLowerCase(), message });
}

/** Responds as text: clients derive the code of a call that reached no method from the HTTP status. */
function sendText(response: ServerResponse | Http2ServerResponse, status: number, text: string): void {
  response.statusCode = status;
  response.setHeader('content-type', 'text/plain; charset=utf-8');
  (response as ServerResponse).end(`${text}\n`);
}
