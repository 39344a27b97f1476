import type { IncomingHttpHeaders, RequestListener } from 'node:http';
import { context, trace } from '@opentelemetry/api';
import { attribute } from './attributes.ts';
import { verbOf } from './metrics.ts';
import { failSpan, recordsSpans, startSpan, type TraceContext } from './trace.ts';

/** Returns the trace context of a request's headers. */
function traceOf({ traceparent, tracestate }: IncomingHttpHeaders): TraceContext {
  const traceContext: Record<string, string> = {};
  if (typeof traceparent === 'string') traceContext.traceparent = traceparent;
  if (typeof tracestate === 'string') traceContext.tracestate = tracestate;
  return traceContext;
}

/**
 * Wraps a listener so that each request has a span until its response is sent, with the caller's
 * trace as parent. The query is not recorded, because it may contain the signature of a link.
 */
export function traceRequests(listener: RequestListener): RequestListener {
  return (request, response) => {
    const verb = verbOf(request);
    const { span, active } = startSpan(verb === '_OTHER' ? 'HTTP' : verb, {
      kind: 'server',
      parent: traceOf(request.headers),
      attributes: {
        [attribute.httpMethod]: verb,
        [attribute.urlScheme]: 'http',
        [attribute.urlPath]: request.url!.split('?', 1)[0]!,
      },
    });
    response.once('close', () => {
      const { statusCode: status, headersSent, writableFinished } = response;
      if (headersSent) span.setAttribute(attribute.httpStatus, status);
      if (!writableFinished) failSpan(span, 'aborted');
      else if (status >= 500) failSpan(span, String(status));
      span.end();
    });
    // Listeners that the handler adds, such as the one that writes the access log, run in the span.
    context.bind(active, response);
    context.with(active, listener, undefined, request, response);
  };
}

interface RpcRequest {
  headers: IncomingHttpHeaders;
}

interface RpcResponse {
  once(event: 'close', listener: () => void): unknown;
}

/**
 * Runs a call of an RPC server in a span that ends with the response. Its parent is the active span
 * of the HTTP port or else the caller's trace.
 */
export function inCallSpan<T>(
  method: string,
  { headers }: RpcRequest,
  response: RpcResponse,
  run: () => T,
): T {
  if (!recordsSpans()) return run();
  const { span, active } = startSpan(method, {
    kind: 'server',
    attributes: {
      [attribute.rpcSystem]: rpcSystemOf(headers['content-type']),
      [attribute.rpcMethod]: method,
    },
    ...(trace.getActiveSpan() === undefined ? { parent: traceOf(headers) } : {}),
  });
  if (!span.isRecording()) return context.with(active, run);
  response.once('close', () => span.end());
  return context.with(active, run);
}

/** Returns the name of the RPC system of a call's content type. gRPC-Web counts as gRPC. */
export function rpcSystemOf(contentType = ''): string {
  if (contentType.startsWith('application/grpc')) return 'grpc';
  return 'connectrpc';
}
