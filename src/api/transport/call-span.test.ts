import { createClient } from '@connectrpc/connect';
import {
  createConnectTransport,
  createGrpcTransport,
  createGrpcWebTransport,
} from '@connectrpc/connect-node';
import { context, trace } from '@opentelemetry/api';
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks';
import {
  BasicTracerProvider,
  InMemorySpanExporter,
  SimpleSpanProcessor,
} from '@opentelemetry/sdk-trace-base';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { Health, HealthCheckResponse_ServingStatus } from '../../../gen/health/v1/health_pb.ts';
import { createBodyBudget } from '../../contract/body-budget.ts';
import { createRpcListener } from './adapter.ts';
import { type ListeningServer, listen } from './server.ts';

const exporter = new InMemorySpanExporter();
const spansInHandlers: (string | undefined)[] = [];
let server: ListeningServer;

const activeSpan = () => trace.getActiveSpan()?.spanContext().spanId;
const response = { status: HealthCheckResponse_ServingStatus.SERVING };

beforeEach(async () => {
  exporter.reset();
  spansInHandlers.length = 0;
  trace.setGlobalTracerProvider(
    new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] }),
  );
  context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable());
  const listener = createRpcListener((router) => {
    router.service(Health, {
      check() {
        spansInHandlers.push(activeSpan());
        return response;
      },
      async *watch() {
        spansInHandlers.push(activeSpan());
        yield response;
      },
    });
  }, createBodyBudget());
  server = await listen(listener, '127.0.0.1', 0);
});
afterEach(async () => {
  await server.close();
  trace.disable();
  context.disable();
});

const transports = {
  Connect: createConnectTransport,
  gRPC: createGrpcTransport,
  'gRPC-Web': createGrpcWebTransport,
};

test.each(['Connect', 'gRPC', 'gRPC-Web'] as const)(
  'a handler runs in the span of its call over %s',
  async (protocol) => {
    const transport = transports[protocol]({
      baseUrl: `http://127.0.0.1:${server.port}`,
      httpVersion: '2',
    });
    const client = createClient(Health, transport);
    await client.check({});
    for await (const _status of client.watch({}));
    await server.close();
    const spans = exporter.getFinishedSpans();
    expect(spans.map(({ name }) => name)).toEqual([
      'grpc.health.v1.Health/Check',
      'grpc.health.v1.Health/Watch',
    ]);
    expect(spansInHandlers).toEqual(spans.map((span) => span.spanContext().spanId));
  },
);
