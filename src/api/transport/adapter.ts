import { Code, type ConnectRouter, createConnectRouter } from '@connectrpc/connect';
import { abortResponse } from '../../contract/abort-response.ts';
import type { BodyBudget } from '../../contract/body-budget.ts';
import { maxBodyBytes } from '../../contract/body-limit.ts';
import { requestIdHeader, requestIdOf } from '../../contract/response-headers.ts';
import { isComplete, methodPath, nameCall } from '../../telemetry/metrics.ts';
import { inCallSpan, rpcSystemOf } from '../../telemetry/server-spans.ts';
import { statusOf } from './call-spans.ts';
import { createExchange, type RpcRequest, type RpcResponse } from './exchange.ts';
import { compressions, receiveCall } from './receive-call.ts';
import { sendResponse, sendText } from './send-response.ts';

/**
 * Listener for node:http and node:http2. If no method has the path, calls `next` or responds with
 * 404.
 */
export type RpcListener = (request: RpcRequest, response: RpcResponse, next?: () => void) => void;

/** Maximum size of a message to a method without authentication, in bytes. */
export const publicBodyBytes = 4 * 1024;

/**
 * A served method. Reading the options of its declaration for each call would take microseconds.
 */
interface ServedMethod {
  handle: ConnectRouter['handlers'][number];
  /** Name as in the path of a call. */
  path: string;
  /** Maximum size of a message, in bytes. */
  limit: number;
  isUnary: boolean;
}

/** Returns the methods of routes by the path of their requests. */
function serveMethods(routes: (router: ConnectRouter) => void): ReadonlyMap<string, ServedMethod> {
  const router = createConnectRouter({
    acceptCompression: compressions,
    // Unknown fields are never read and would cost memory.
    binaryOptions: { readUnknownFields: false },
  });
  routes(router);
  return new Map(
    router.handlers.map((handle) => {
      const { method, requestPath } = handle;
      const isUnary = method.methodKind === 'unary';
      return [
        requestPath,
        { handle, path: methodPath(method), limit: maxBodyBytes(method), isUnary },
      ];
    }),
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
    const { handle, path, limit, isUnary } = served;
    const received = receiveCall(exchange, { method: handle.method, limit, budget });
    if (received === null)
      return sendText(exchange, 400, 'The authority of the request is missing or malformed.');
    let trailer: Headers | undefined;
    const status = () => exchange.failure ?? finalStatus(response, trailer);
    nameCall(request, {
      method: path,
      system: rpcSystemOf(request.headers['content-type']),
      status,
    });
    inCallSpan(path, request, response, () => handle(received))
      .then((result) => {
        trailer = result.trailer;
        return sendResponse(exchange, result, { isUnary, allowedMethods: handle.allowedMethods });
      })
      .catch(() => abortResponse(response));
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
