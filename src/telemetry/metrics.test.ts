import { createServer, request } from 'node:http';
import { connect } from 'node:http2';
import type { AddressInfo } from 'node:net';
import { createClient, type Transport } from '@connectrpc/connect';
import {
  createConnectTransport,
  createGrpcTransport,
  createGrpcWebTransport,
} from '@connectrpc/connect-node';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { AccountService } from '../../gen/gleaner/account/v1/account_pb.ts';
import { JobService } from '../../gen/gleaner/job/v1/job_pb.ts';
import { type Scrape, scrape, sumOf } from '../../test/observability/place.ts';
import { openRpcFixture, type RpcFixture } from '../../test/support/rpc/rpc-fixture.ts';
import { until } from '../../test/support/time/until.ts';
import { type RunningServer, startServer } from '../api/rest/server.ts';
import { type ListeningServer, listen } from '../api/transport/server.ts';
import { createLog } from '../base/log.ts';
import { createRequestMetrics, nameRoute } from './metrics.ts';
import { createMetricsRecorder } from './recorder.ts';
import { openTelemetry, type Telemetry } from './telemetry.ts';

let fixture: RpcFixture;
let telemetry: Telemetry;
let rpc: ListeningServer;
let http: RunningServer;
const exporter = createServer((request, response) => telemetry.scrape(request, response));

beforeEach(async () => {
  fixture = await openRpcFixture();
  const log = createLog('silent', 'test');
  telemetry = await openTelemetry({ role: 'test', version: '0', log, pushMs: null });
  rpc = await listen(telemetry.requests.measure(fixture.listener), '127.0.0.1', 0);
  http = await startServer(
    telemetry.requests.measure((request, response) => {
      if (request.url!.startsWith('/files/')) nameRoute(request, '/files/{name}');
      if (request.url === '/files/cut') response.write('half', () => response.destroy());
      else if (request.url === '/files/waited')
        response.setHeader('server-timing', 'wait;dur=60000').end();
      else response.writeHead(Number(request.url!.slice(-3))).end();
    }),
    0,
    '127.0.0.1',
  );
  await new Promise<void>((resolve) => exporter.listen(0, '127.0.0.1', resolve));
});
afterEach(async () => {
  await Promise.all([
    rpc.close(),
    http.close(0),
    new Promise((resolve) => exporter.close(resolve)),
  ]);
  await telemetry.close();
  await fixture.close();
});

const measured = (): Promise<Scrape> =>
  scrape(`http://127.0.0.1:${(exporter.address() as AddressInfo).port}`);

/**
 * Returns the metrics once a number of requests is counted. A response is closed after the client
 * has read it.
 */
const afterRequests = (protocol: string, count: number): Promise<Scrape> =>
  until(
    `${count} requests are counted`,
    async () => {
      const found = await measured();
      return sumOf(found, 'gleaner_requests_total', { protocol }) === count ? found : undefined;
    },
    { withinMs: 10_000 },
  );

const results = (found: Scrape, protocol: string) =>
  ['ok', 'client_error', 'server_error'].map((result) =>
    sumOf(found, 'gleaner_requests_total', { protocol, result }),
  );

describe('series at the start', () => {
  test('every result of both protocols is zero, and no route or method has a histogram', async () => {
    const found = await measured();
    const zero = (name: string) => [...found].filter(([series]) => series.startsWith(name));
    expect(zero('gleaner_requests_total')).toHaveLength(6);
    expect(zero('http_server_request_duration')).toEqual([]);
    expect(zero('rpc_server_call_duration')).toEqual([]);
    const requests = /^(gleaner_requests|http_|rpc_)/;
    expect([...found].filter(([series, value]) => requests.test(series) && value !== 0)).toEqual(
      [],
    );
  });

  test('outcomes of deliveries are zero, so that their first failure is an increase', async () => {
    const found = await measured();
    expect(found.get('gleaner_deliveries_total{outcome="failed"}')).toBe(0);
  });
});

describe('calls over RPC', () => {
  const address = () => ({ baseUrl: `http://127.0.0.1:${rpc.port}`, httpVersion: '1.1' as const });
  const transports: [string, string, () => Transport][] = [
    ['gRPC', 'grpc', () => createGrpcTransport({ baseUrl: address().baseUrl })],
    ['gRPC-Web', 'grpc', () => createGrpcWebTransport(address())],
    ['Connect', 'connectrpc', () => createConnectTransport(address())],
  ];
  test.each(transports)(
    'over %s have their method and status',
    async (_name, system, transport) => {
      const headers = { authorization: fixture.authorization };
      const account = createClient(AccountService, transport());
      const jobs = createClient(JobService, transport());
      const id = '00000000-0000-4000-8000-000000000000';
      await account.getAccount({}, { headers });
      await account.getAccount({}).catch(() => {});
      await jobs.getProgress({ jobId: id }, { headers }).catch(() => {});
      await Array.fromAsync(jobs.watchJob({ jobId: id }, { headers })).catch(() => {});
      const found = await afterRequests('rpc', 4);
      const counted = (method: string, status: string) =>
        sumOf(found, 'rpc_server_call_duration_count', {
          rpc_system_name: system,
          rpc_method: method,
          rpc_status_code: status,
        });
      expect(counted('gleaner.account.v1.AccountService/GetAccount', 'OK')).toBe(1);
      expect(counted('gleaner.account.v1.AccountService/GetAccount', 'UNAUTHENTICATED')).toBe(1);
      expect(counted('gleaner.job.v1.JobService/GetProgress', 'NOT_FOUND')).toBe(1);
      expect(counted('gleaner.job.v1.JobService/WatchJob', 'NOT_FOUND')).toBe(1);
      expect(results(found, 'rpc')).toEqual([1, 3, 0]);
    },
  );

  const method = 'gleaner.account.v1.AccountService/GetAccount';
  const headers = { 'content-type': 'application/proto', 'content-length': '10' };

  test.each([
    [
      'HTTP/1.1',
      () =>
        request({
          port: rpc.port,
          method: 'POST',
          path: `/${method}`,
          headers: { ...headers, authorization: fixture.authorization },
        }),
    ],
    [
      'HTTP/2',
      () =>
        connect(address().baseUrl).request({
          ':method': 'POST',
          ':path': `/${method}`,
          ...headers,
          authorization: fixture.authorization,
        }),
    ],
  ])('have a status if the client leaves within the body over %s', async (_name, begin) => {
    const admitted = Promise.withResolvers<void>();
    const { admit } = fixture.core;
    fixture.core.admit = (...given) => admit(...given).finally(admitted.resolve);
    const call = begin().on('error', () => {});
    call.write('half');
    await admitted.promise;
    call.destroy();
    const found = await afterRequests('rpc', 1);
    const cancelled = { rpc_method: method, rpc_status_code: 'CANCELLED' };
    expect(sumOf(found, 'rpc_server_call_duration_count', cancelled)).toBe(1);
  });

  test('have a status if the client sends no message, and unknown methods create no series', async () => {
    const call = (path: string, body: string) =>
      fetch(`${address().baseUrl}/${path}`, {
        method: 'POST',
        body,
        headers: { authorization: fixture.authorization, 'content-type': 'application/json' },
      });
    expect((await call(method, '[')).status).toBe(400);
    expect((await call('gleaner.account.v1.AccountService/Invented', '{}')).status).toBe(404);
    await afterRequests('rpc', 1);
    const found = await afterRequests('http', 1);
    const failed = { rpc_method: method, rpc_status_code: 'INVALID_ARGUMENT' };
    expect(sumOf(found, 'rpc_server_call_duration_count', failed)).toBe(1);
    expect(sumOf(found, 'http_server_request_duration_count', { http_route: '_OTHER' })).toBe(1);
    expect([...found.keys()].filter((series) => series.includes('Invented'))).toEqual([]);
  });
});

describe('HTTP requests', () => {
  const ask = (path: string, method = 'GET') =>
    fetch(`http://127.0.0.1:${http.port}${path}`, { method }).then(
      (response) => response.arrayBuffer(),
      () => {},
    );

  test('have their route, method, and status, and neither path nor invented methods', async () => {
    await ask('/files/200');
    await ask('/files/500', 'PUT');
    await ask('/other/404', 'LINK');
    const found = await afterRequests('http', 3);
    const series = [...found.keys()].filter((name) =>
      name.startsWith('http_server_request_duration_count'),
    );
    expect(series.toSorted()).toEqual([
      'http_server_request_duration_count{http_request_method="GET",http_route="/files/{name}",http_response_status_code="200"}',
      'http_server_request_duration_count{http_request_method="PUT",http_route="/files/{name}",http_response_status_code="500"}',
      'http_server_request_duration_count{http_request_method="_OTHER",http_route="_OTHER",http_response_status_code="404"}',
    ]);
    expect(results(found, 'http')).toEqual([1, 1, 1]);
  });

  test('have a status that is a number, as the semantic conventions require', async () => {
    const recorder = createMetricsRecorder();
    const { measure } = createRequestMetrics(recorder);
    const server = await startServer(
      measure((_request, response) => response.writeHead(204).end()),
      0,
      '127.0.0.1',
    );
    await fetch(`http://127.0.0.1:${server.port}/`);
    const statuses = () =>
      recorder.read().distributions.map(({ labels }) => labels['http.response.status_code']);
    await until('the request is recorded', () => (statuses().includes(204) ? true : undefined), {
      withinMs: 2_000,
    });
    await server.close(0);
  });

  test('have an error type and no status if the connection is closed early', async () => {
    await ask('/files/cut').catch(() => {});
    const found = await afterRequests('http', 1);
    expect(sumOf(found, 'http_server_request_duration_count', { error_type: 'aborted' })).toBe(1);
    expect([...found.keys()].filter((series) => series.includes('status_code'))).toEqual([]);
  });

  test('have a duration without the requested wait', async () => {
    await ask('/files/waited');
    const found = await afterRequests('http', 1);
    expect(sumOf(found, 'http_server_request_duration_sum')).toBe(0);
  });
});
