import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { plainIds } from '../../sandbox/mkta/ids.ts';
import { mkta } from '../../sandbox/mkta/index.ts';
import { type RunningOrigins, startOrigins } from '../../sandbox/server.ts';
import { type Collector, type ReceivedSpan, startCollector } from '../observability/collector.ts';
import { type OpenedStack, openStacks, stacks } from '../support/engines/engines.ts';
import { freePort } from '../support/servers/ports.ts';
import {
  createApi,
  submitItems,
  type TestApi,
  type TestUser,
  watchJob,
} from '../support/service/api.ts';
import { createDeployment, type Deployment } from '../support/service/deployment.ts';
import { createServiceProcess, httpUrl, type ServiceProcess } from '../support/service/service.ts';
import { until } from '../support/time/until.ts';

const opened: OpenedStack[] = await openStacks(stacks);
const collector: Collector = await startCollector();
/** Names of the headers of all requests to the marketplace. */
const originHeaders = new Set<string>();
const observedMkta = {
  ...mkta,
  respond(request: Parameters<typeof mkta.respond>[0]) {
    for (const name of Object.keys(request.headers)) originHeaders.add(name);
    return mkta.respond(request);
  },
};
const origins: RunningOrigins = await startOrigins({ origins: [observedMkta], latencyMs: 5 });
afterAll(async () => {
  await origins.stop();
  await Promise.all(opened.map(({ engines }) => engines?.stop()));
  await collector.close();
});

const route = '/v1/mkta/variant_sold_v1/submit';
const submitMethod = 'gleaner.mkta.v1.MktaService/SubmitVariantSold';
const tracing = {
  GLEANER_APPROVAL: 'off',
  OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
  OTEL_METRICS_EXPORTER: 'none',
  OTEL_BSP_SCHEDULE_DELAY: '100',
};

/** Returns a span and its ancestors, nearest first. */
function lineOf(span: ReceivedSpan, spans: readonly ReceivedSpan[]): ReceivedSpan[] {
  const parent = spans.find(({ id }) => id === span.parentId);
  return parent === undefined ? [span] : [span, ...lineOf(parent, spans)];
}

/** Starts a trace like a client with OpenTelemetry. */
function newTrace() {
  const traceId = randomBytes(16).toString('hex');
  const spanId = randomBytes(8).toString('hex');
  return { traceId, spanId, headers: { traceparent: `00-${traceId}-${spanId}-01` } };
}

/**
 * Resolves with the spans of a trace once the spans of `count` units and all their ancestors have
 * arrived.
 */
function spansOf(traceId: string, spanId: string, count: number): Promise<ReceivedSpan[]> {
  const isComplete = (span: ReceivedSpan, all: readonly ReceivedSpan[]) =>
    lineOf(span, all).at(-1)!.parentId === spanId;
  return until(
    'the spans of the job are exported',
    async () => {
      const spans = collector.spans.filter((span) => span.traceId === traceId);
      const units = spans.filter(({ name }) => name === 'read unit');
      return units.length === count && spans.every((span) => isComplete(span, spans))
        ? spans
        : undefined;
    },
    { withinMs: 20_000 },
  );
}

/** Returns the log lines of a trace. */
const linesOf = (process: ServiceProcess, traceId: string) =>
  process
    .log()
    .split('\n')
    .filter((line) => line.startsWith('{'))
    .map((line) => JSON.parse(line))
    .filter((line) => line.trace_id === traceId);

describe.each(opened)('$title', (stack) => {
  const run = test.skipIf(stack.engines === null);
  let deployment: Deployment;
  let gateway: ServiceProcess;
  let gatewayUrl: string;
  let api: TestApi;
  let user: TestUser;
  beforeAll(async () => {
    if (stack.engines === null) return;
    deployment = await createDeployment({
      inProcess: false,
      stack,
      engines: stack.engines,
      origins,
      settings: { ...tracing, GLEANER_WORKERS: '1' },
    });
    const environment = {
      ...deployment.settings,
      GLEANER_HTTP_PORT: String(await freePort()),
      GLEANER_CORE_URL: deployment.grpc,
    };
    gateway = createServiceProcess({ role: 'gateway', environment });
    gatewayUrl = httpUrl(environment);
    await deployment.start();
    await gateway.start();
    api = createApi(deployment);
    user = await api.createUser(1_000);
  });
  afterAll(async () => {
    const code = await gateway?.stop();
    const codes = await deployment?.stop();
    if (stack.engines !== null) expect([code, ...codes]).toEqual([code, ...codes].map(() => 0));
  });

  const items = (count: number, from: number) =>
    plainIds(from + count)
      .slice(from)
      .map((id) => ({ item_id: String(id), shop_id: '77' }));

  run('a job is one trace from the REST request to the requests to its origin', async () => {
    const { traceId, spanId, headers } = newTrace();
    const jobId = await submitItems(api, user, 'sg', items(3, 0), headers);
    await watchJob(api, user, jobId, 60_000);
    const spans = await spansOf(traceId, spanId, 3);
    const requests = spans.filter(({ attributes }) =>
      attributes['url.full']?.startsWith(origins.address('mkta', 'sg')),
    );
    expect(requests.length).toBeGreaterThanOrEqual(3);
    for (const request of requests) {
      const line = lineOf(request, spans);
      expect(line.map(({ name, kind }) => [name, kind])).toEqual([
        ['GET', 3],
        ['read unit', 1],
        ['process bulk.mkta', 5],
        ['publish bulk.mkta', 4],
        [submitMethod, 1],
        [`POST ${route}`, 2],
      ]);
      expect(request.attributes).toMatchObject({
        'http.request.method': 'GET',
        'http.response.status_code': '200',
      });
    }
    const [, , process, publish, , server] = lineOf(requests[0]!, spans);
    expect(process!.resource['gleaner.role']).toMatch(/ worker \d$/);
    expect(process!.attributes).toMatchObject({ 'gleaner.job': jobId, 'gleaner.units': '3' });
    expect(publish!.attributes['messaging.system.name']).toBe(
      stack.distributed ? 'nats' : 'in_process',
    );
    expect(server!.resource['gleaner.role']).toBe(stack.distributed ? 'api' : 'serve');
    expect(server!.attributes).toMatchObject({
      'http.route': route,
      'http.response.status_code': '202',
    });
    const claim = spans.find(({ name }) => name === 'batches.claim');
    expect(claim).toMatchObject({ kind: 3, parentId: process!.id });
    expect(claim!.attributes['db.system.name']).toBe(stack.distributed ? 'mongodb' : 'sqlite');
    expect(new Set(spans.map(({ schemaUrl }) => schemaUrl))).toEqual(
      new Set(['https://opentelemetry.io/schemas/1.45.0']),
    );
  });

  run('a gateway in front of a core is part of the trace', async () => {
    const { traceId, spanId, headers } = newTrace();
    const behind = createApi({ url: gatewayUrl, operatorKey: deployment.operatorKey });
    const jobId = await submitItems(behind, user, 'sg', items(2, 5), headers);
    await watchJob(api, user, jobId, 60_000);
    const spans = await spansOf(traceId, spanId, 2);
    const unit = spans.find(({ name }) => name === 'read unit')!;
    expect(
      lineOf(unit, spans).map(({ name, kind, resource }) => [name, kind, resource['gleaner.role']]),
    ).toEqual([
      ['read unit', 1, expect.stringMatching(/ worker \d$/)],
      ['process bulk.mkta', 5, expect.stringMatching(/ worker \d$/)],
      ['publish bulk.mkta', 4, deployment.api.role],
      [submitMethod, 2, deployment.api.role],
      [submitMethod, 3, 'gateway'],
      [`POST ${route}`, 2, 'gateway'],
    ]);
  });

  run('log lines of a traced call carry the trace and the span', async () => {
    const { traceId, headers } = newTrace();
    const jobId = await submitItems(api, user, 'sg', items(1, 9), headers);
    await watchJob(api, user, jobId, 60_000);
    const request = await until(
      'the access log has the submit',
      async () => linesOf(deployment.api, traceId).find(({ msg }) => msg === 'request'),
      { withinMs: 10_000 },
    );
    expect(request).toMatchObject({ route, span_id: expect.stringMatching(/^[0-9a-f]{16}$/) });
    const ended = await until(
      'a log has the end of the job',
      async () => {
        const written = deployment.processes.flatMap((process) => linesOf(process, traceId));
        return written.find(({ msg, jobId: id }) => msg === 'job ended' && id === jobId);
      },
      { withinMs: 10_000 },
    );
    expect(ended.role).toMatch(/ worker \d$/);
  });

  run('origins receive no trace context', () => {
    expect([...originHeaders]).toContain('user-agent');
    expect([...originHeaders].filter((name) => name.startsWith('trace'))).toEqual([]);
  });
});
