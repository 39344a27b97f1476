import { Code, type ConnectRouter, createConnectRouter } from '@connectrpc/connect';
import { abortResponse } from '../../contract/abort-response.ts';
import type { BodyBudget } from '../../contract/body-budget.ts';
import { requestIdHeader, requestIdOf } from '../../contract/response-headers.ts';
import { isComplete, methodPath, nameCall } from '../../telemetry/metrics.ts';
import { inCallSpan, rpcSystemOf } from '../../telemetry/server-spans.ts';
import { statusOf } from './call-spans.ts';
import { createExchange, type RpcRequest, type RpcResponse } from './exchange.ts';
import { receiveCall, universalRequest } from './receive-call.ts';
import { sendResponse, sendText, sendUnary } from './send-response.ts';
import { compressions } from './unary/body.ts';
import { formOf } from './unary/form.ts';
import { recordUnary, type UnaryMethod } from './unary/methods.ts';
import { performUnary } from './unary/serve.ts';

/**
 * Listener for node:http and node:http2. If no method has the path, calls `next` or responds with
 * 404.
 */
export type RpcListener = (request: RpcRequest, response: RpcResponse, next?: () => void) => void;

/** Maximum size of a message to a method without authentication, in bytes. */
export const publicBodyBytes = 4 * 1024;

/** A served method. */
interface ServedMethod {
  /** Connect's handler of all calls that are not unary. */
  handle: ConnectRouter['handlers'][number];
  /** Name as in the path of a call. */
  path: string;
  unary: UnaryMethod | undefined;
}

/** Returns the methods of routes by the path of their requests. */
function serveMethods(routes: (router: ConnectRouter) => void): ReadonlyMap<string, ServedMethod> {
  const options = {
    acceptCompression: compressions,
    // Unknown fields are never read and would cost memory.
    binaryOptions: { readUnknownFields: false },
  };
  const router = createConnectRouter(options);
  const unary = new Map<string, UnaryMethod>();
  routes(recordUnary(router, options, unary));
  return new Map(
    router.handlers.map((handle) => [
      handle.requestPath,
      { handle, path: methodPath(handle.method), unary: unary.get(handle.requestPath) },
    ]),
  );
}

/**
 * Creates the listener that serves routes over gRPC, gRPC-Web and Connect. Large bodies are read
 * within the memory budget.
 */
export function createRpcListener(
  routes: (router: ConnectRouter) => void,
  budget: BodyBudget,
): RpcListener {
  let methods: ReadonlyMap<string, ServedMethod> | null = null;
  return (request, response, next) => {
    // Created by the first request: creating all of them takes a twentieth of the start of a
    // service.
    methods ??= serveMethods(routes);
    const served = methods.get((request.url ?? '').split('?', 1)[0]!);
    if (served === undefined && next !== undefined) return next();
    // The gateway's port has set the header already.
    const requestId = requestIdOf(
      response.getHeader(requestIdHeader) ?? request.headers[requestIdHeader],
    );
    request.headers[requestIdHeader] = requestId;
    const exchange = createExchange(request, response, requestId);
    if (served === undefined)
      return sendText(exchange, 404, 'No method has this path. Call /<service>/<method> by POST.');
    const received = receiveCall(exchange);
    if (received === null)
      return sendText(exchange, 400, 'The authority of the request is missing or malformed.');
    const { path } = served;
    let trailer: Headers | undefined;
    nameCall(request, {
      method: path,
      system: rpcSystemOf(request.headers['content-type']),
      status: () => exchange.failure ?? finalStatus(response, trailer),
    });
    const serve = async () => {
      const { handle, unary } = served;
      const form = request.method === 'POST' ? formOf(request.headers['content-type']) : null;
      if (unary !== undefined && form !== null)
        return sendUnary(exchange, await performUnary(unary, { ...received, form, budget }));
      const result = await handle(universalRequest(received));
      trailer = result.trailer;
      return sendResponse(exchange, result, handle.allowedMethods);
    };
    inCallSpan(path, request, response, serve).catch(() => abortResponse(response));
  };
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
function finalStatus(response: RpcResponse, trailer: Headers | undefined): string {
  const { statusCode } = response;
  const grpc = Number(trailer?.get('grpc-status') ?? 0);
  if (grpc in Code) return statusOf(grpc);
  if (statusCode >= 500) return statusOf(httpStatuses[statusCode] ?? Code.Internal);
  if (statusCode >= 400) return statusOf(httpStatuses[statusCode] ?? Code.InvalidArgument);
  return isComplete(response) ? 'OK' : statusOf(Code.Canceled);
}

/** Returns the body of an error of Connect, for requests that are malformed. */
export function formatConnectError(status: number, message: string): string {
  const code = httpStatuses[status] ?? Code.InvalidArgument;
  return JSON.stringify({ code: statusOf(code).toLowerCase(), message });
}
