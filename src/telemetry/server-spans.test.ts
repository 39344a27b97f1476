import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { context, propagation, SpanKind, SpanStatusCode, trace } from '@opentelemetry/api';
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks';
import { W3CTraceContextPropagator } from '@opentelemetry/core';
import {
  BasicTracerProvider,
  InMemorySpanExporter,
  type ReadableSpan,
  SimpleSpanProcessor,
} from '@opentelemetry/sdk-trace-base';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { nameRoute } from './metrics.ts';
import { traceRequests } from './server-spans.ts';

const exporter = new InMemorySpanExporter();
beforeEach(() => {
  exporter.reset();
  trace.setGlobalTracerProvider(
    new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] }),
  );
  context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable());
  propagation.setGlobalPropagator(new W3CTraceContextPropagator());
});
afterEach(() => {
  trace.disable();
  context.disable();
  propagation.disable();
});

/** Sends a request to a listener, ignores failures, and returns the span of the request. */
async function spanOf(
  listener: RequestListener,
  path: string,
  options: RequestInit = {},
): Promise<ReadableSpan> {
  const ended = Promise.withResolvers<void>();
  const traced = traceRequests(listener);
  const server = createServer((request, response) => {
    traced(request, response);
    response.once('close', () => ended.resolve());
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}${path}`;
  await fetch(url, options).catch(() => {});
  await ended.promise;
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
  const [span] = exporter.getFinishedSpans();
  return span!;
}

test('traceRequests() records the route and the status, but not the query', async () => {
  const span = await spanOf((request, response) => {
    nameRoute(request, '/files/{name}');
    response.writeHead(404).end();
  }, '/files/a?signature=secret');
  expect(span).toMatchObject({ name: 'GET /files/{name}', kind: SpanKind.SERVER });
  expect(span.status.code).toBe(SpanStatusCode.UNSET);
  expect(span.attributes).toEqual({
    'http.request.method': 'GET',
    'http.response.status_code': 404,
    'http.route': '/files/{name}',
    'url.path': '/files/a',
    'url.scheme': 'http',
  });
});

test('traceRequests() gives unknown methods one name', async () => {
  const span = await spanOf((_request, response) => response.writeHead(405).end(), '/', {
    method: 'PURGE',
  });
  expect(span.name).toBe('HTTP');
  expect(span.attributes['http.request.method']).toBe('_OTHER');
});

test('traceRequests() marks failed and aborted requests', async () => {
  const failed = await spanOf((_request, response) => response.writeHead(503).end(), '/');
  expect(failed.attributes).toMatchObject({
    'error.type': '503',
    'http.response.status_code': 503,
  });
  exporter.reset();
  const aborted = await spanOf((_request, response) => void response.destroy(), '/');
  expect(aborted.attributes['error.type']).toBe('aborted');
  expect(aborted.attributes['http.response.status_code']).toBeUndefined();
});

test('traceRequests() runs the listeners of the response in the span', async () => {
  const active: (string | undefined)[] = [];
  const span = await spanOf((_request, response) => {
    response.once('close', () => active.push(trace.getActiveSpan()?.spanContext().spanId));
    response.end();
  }, '/');
  expect(active).toEqual([span.spanContext().spanId]);
});
