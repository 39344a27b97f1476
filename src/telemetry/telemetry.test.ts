import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { afterEach, expect, test } from 'vitest';
import { scrape } from '../../test/observability/place.ts';
import { createLog } from '../base/log.ts';
import { createMetricsRecorder } from './recorder.ts';
import { openTelemetry } from './telemetry.ts';

/** Variable with the address to which metrics are pushed. */
const endpoint = 'OTEL_EXPORTER_OTLP_METRICS_ENDPOINT';

const closers: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
  delete process.env[endpoint];
});

/** Starts a server for the test and returns its URL. */
async function serve(listener: RequestListener): Promise<string> {
  const server = createServer(listener);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  closers.push(() => {
    server.closeAllConnections();
    return new Promise((resolve) => server.close(resolve));
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

async function open(pushMs: number | null = null) {
  const log = createLog('silent', 'test');
  const telemetry = await openTelemetry({ role: 'test', version: '0', log, pushMs });
  closers.push(telemetry.close);
  return telemetry;
}

const ok = { market: 'mktx', kind: 'page', code: 'ok' };

test('the first scrape contains earlier measurements, and the next one adds later ones', async () => {
  const { metrics, observe, scrape: listener, exported } = await open();
  metrics.add('gleaner_units_total', ok, 3);
  metrics.record('gleaner_unit_duration_seconds', 300);
  const worker = createMetricsRecorder();
  worker.add('gleaner_units_total', ok, 4);
  worker.record('gleaner_unit_duration_seconds', 700);
  metrics.addReport(worker.take());
  observe({ gleaner_worker_slots: async () => [{ labels: { state: 'idle' }, value: 2 }] });
  const url = await serve(listener);
  // Several scrapers may be the first.
  const [first, other] = await Promise.all([scrape(url), scrape(url)]);
  const units = 'gleaner_units_total{market="mktx",kind="page",code="ok"}';
  for (const found of [first, other]) {
    expect(found.get(units)).toBe(7);
    expect(found.get('gleaner_unit_duration_seconds_count')).toBe(2);
    expect(found.get('gleaner_unit_duration_seconds_sum')).toBe(1);
    expect(found.get('gleaner_unit_duration_seconds_bucket{le="0.5"}')).toBe(1);
    expect(found.get('gleaner_worker_slots{state="idle"}')).toBe(2);
    expect(found.get('gleaner_credits_total{type="grant"}')).toBe(0);
  }
  await exported;
  metrics.add('gleaner_units_total', ok);
  observe({ gleaner_audit_disagreements: async () => [{ labels: {}, value: 1 }] });
  const next = await scrape(url);
  expect(next.get(units)).toBe(8);
  expect(next.get('gleaner_audit_disagreements')).toBe(1);
});

test('a push contains the counted values', async () => {
  const bodies: Promise<Buffer>[] = [];
  const url = await serve(async (request, response) => {
    bodies.push(buffer(request));
    await bodies.at(-1);
    response.writeHead(200, { 'content-type': 'application/x-protobuf' }).end();
  });
  process.env[endpoint] = `${url}/v1/metrics`;
  const { metrics, close, exported } = await open(60_000);
  closers.pop();
  await exported;
  metrics.add('gleaner_units_total', ok, 3);
  await close();
  const text = Buffer.concat(await Promise.all(bodies)).toString('latin1');
  for (const part of ['gleaner_units_total', 'mktx', 'gleaner_requests_total', 'server_error'])
    expect(text).toContain(part);
});
