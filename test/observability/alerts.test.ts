import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import type { DescMethod } from '@bufbuild/protobuf';
import { describe, expect, test } from 'vitest';
import { createLog } from '../../src/base/log.ts';
import { endpointsOf } from '../../src/contract/endpoint.ts';
import { services } from '../../src/contract/services.ts';
import {
  type CounterName,
  counters,
  type DistributionName,
  distributions,
  gauges,
} from '../../src/telemetry/catalog.ts';
import { type GaugeReaders, type Metrics, methodPath } from '../../src/telemetry/metrics.ts';
import { openTelemetry } from '../../src/telemetry/telemetry.ts';
import { findProgram } from '../engines/missing.ts';
import { root } from '../support/service/service.ts';
import { until } from '../support/time/until.ts';
import { namesOf, scrape } from './place.ts';

const folder = join(root, 'deploy/observability');
const rules = readFileSync(join(folder, 'alerts.yaml'), 'utf8');
const dashboard = JSON.parse(readFileSync(join(folder, 'dashboard.json'), 'utf8')) as {
  panels: { title: string; targets: { expr: string }[] }[];
};
const alerts = rules.split(/^ {6}- alert: /m).slice(1);
const promtool = findProgram('promtool');

/** Returns the names of metrics in expressions and texts. */
const metricsIn = (text: string): string[] => [
  ...new Set(
    [
      ...text.matchAll(
        /\b(?:gleaner|nodejs|v8js|http|rpc)_(?!request_method|route|response_status|method\b|status_code)[a-z0-9_]+/g,
      ),
    ].map(([name]) => name),
  ),
];

/**
 * Returns true if a call lasts as long as its download or stream. The schema of a kind is small.
 */
const isLong = ({ methodKind, name }: DescMethod): boolean =>
  methodKind !== 'unary' && name !== 'GetSchema';

/** Returns the name that Prometheus has for a metric or a label. */
const exported = (name: string): string => name.replaceAll('.', '_');

/** Measures every metric of the catalog once, and returns the names that a scrape then has. */
async function exportedNames(): Promise<Set<string>> {
  const telemetry = await openTelemetry({
    role: 'test',
    version: '0',
    log: createLog('silent', 'test'),
    pushMs: null,
  });
  const { add, record } = telemetry.metrics as {
    add(name: CounterName, labels: object): void;
  } & Metrics;
  for (const name of Object.keys(counters)) add(name as CounterName, {});
  for (const name of Object.keys(distributions)) record(name as DistributionName, 1);
  const readers = Object.keys(gauges).map((name) => [name, async () => [{ labels: {}, value: 1 }]]);
  telemetry.observe(Object.fromEntries(readers) as GaugeReaders);
  const server = createServer(telemetry.scrape);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  try {
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    return await until(
      'a garbage collection and a delay of the event loop are exported',
      async () => {
        Array.from({ length: 200_000 }, (_, index) => ({ index }));
        const names = namesOf(await scrape(url));
        const runtime = ['v8js_gc_duration_sum', 'nodejs_eventloop_delay_p99'];
        return runtime.every((name) => names.has(name)) ? names : undefined;
      },
      { withinMs: 30_000 },
    );
  } finally {
    server.close();
    await telemetry.close();
  }
}

describe('deploy/observability', () => {
  test('names only metrics that are exported', async () => {
    const names = await exportedNames();
    const expressions = dashboard.panels.flatMap(({ targets }) => targets.map(({ expr }) => expr));
    const named = metricsIn([rules, ...expressions].join('\n'));
    expect(named.length).toBeGreaterThan(15);
    expect(named.filter((name) => !names.has(name))).toEqual([]);
  });

  test('shows every metric of the catalog on the dashboard', () => {
    const shown = dashboard.panels.flatMap(({ targets }) =>
      targets.flatMap(({ expr }) => metricsIn(expr)),
    );
    const names = [...Object.keys(counters), ...Object.keys(gauges)];
    expect(names.filter((name) => !shown.includes(name))).toEqual([]);
    const histograms = Object.keys(distributions).map(exported);
    expect(histograms.filter((name) => !shown.includes(`${name}_bucket`))).toEqual([]);
  });

  test('leaves downloads and streams out of the alert on slow requests', () => {
    const alert = alerts.find((text) => text.startsWith('GleanerCallsSlow'))!;
    const [routes, methods] = [...alert.matchAll(/!~"([^"]+)"/g)].map(
      ([, text]) => new RegExp(`^(${text})$`),
    );
    for (const { method, path } of endpointsOf(services))
      expect(routes!.test(path), path).toBe(isLong(method));
    for (const method of services.flatMap((service) => service.methods))
      expect(methods!.test(methodPath(method)), method.name).toBe(isLong(method));
  });

  test('has a runbook for every alert', () => {
    const page = readFileSync(join(root, 'docs/runbooks.md'), 'utf8');
    const sections = page.split(/^## /m).slice(1);
    expect(alerts.length).toBe(sections.length);
    for (const alert of alerts) {
      const name = alert.slice(0, alert.indexOf('\n'));
      const section = sections.find((text) => text.includes(`\`${name}\``));
      expect(section, name).toBeDefined();
      const anchor = section!.slice(0, section!.indexOf('\n')).toLowerCase().replaceAll(' ', '-');
      expect(alert).toContain(`runbook: docs/runbooks.md#${anchor}\n`);
    }
  });

  test('is documented: docs/monitoring.md lists every metric', () => {
    const page = readFileSync(join(root, 'docs/monitoring.md'), 'utf8');
    for (const [name, metric] of Object.entries({
      ...counters,
      ...distributions,
      ...gauges,
    })) {
      const labels =
        'labels' in metric ? metric.labels.map((label) => `\`${exported(label)}\``).join(', ') : '';
      expect(page).toContain(`| \`${exported(name)}\` | ${labels}${labels === '' ? '' : ' '}|`);
    }
  });

  const reason = promtool === null ? ' [promtool is not installed: run deploy/engines.sh]' : '';
  test.skipIf(promtool === null).each([
    ['are valid', ['check', 'rules', 'alerts.yaml']],
    ['fire as their unit tests say', ['test', 'rules', 'alerts.test.yaml']],
  ])(`rules %s${reason}`, (_what, parameters) => {
    const { status, stdout, stderr } = spawnSync(promtool!, parameters, {
      cwd: folder,
      encoding: 'utf8',
    });
    expect(status, stdout + stderr).toBe(0);
  });
});
