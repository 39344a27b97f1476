import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import * as conventions from '@opentelemetry/semantic-conventions/incubating';
import { otherNames } from '../../../src/base/config.ts';
import { canBeFile } from '../../../src/base/secret-files.ts';
import { type SettingName, settings } from '../../../src/base/settings.ts';
import { services } from '../../../src/contract/services.ts';
import { counters, distributions, gauges } from '../../../src/telemetry/catalog.ts';
import { root } from '../../support/service/service.ts';
import { matchesIn, type NameCheck } from './name-check.ts';
import { codeOf, trackedFiles } from './page.ts';

const settingNames = Object.keys(settings) as SettingName[];
const variables: ReadonlySet<string> = new Set([
  ...settingNames,
  ...settingNames.filter(canBeFile).map((name) => `${name}_FILE`),
  ...otherNames,
]);

/** Text of the sources that read variables of tests. */
const testEngines = textOf(/^test\/engines\/.*\.ts$/);

/** Settings, and other environment variables of the clients, the compose file, and the tests. */
export const environmentVariables: NameCheck = {
  kind: 'setting',
  find: ({ text }) => matchesIn(text, /\b((?:GLEANER|MONGODB|NATS)_[A-Z0-9_]*[A-Z0-9])\b/g),
  exists: (name) => variables.has(name) || testEngines.includes(`env.${name}`),
};

/** Returns a name in the form that Prometheus shows. */
const exported = (name: string) => name.replaceAll('.', '_');

const metricNames: ReadonlySet<string> = new Set([
  ...Object.keys({ ...counters, ...gauges, ...distributions }).flatMap((name) => [
    name,
    exported(name),
  ]),
  ...Object.keys(distributions).flatMap((name) =>
    ['bucket', 'sum', 'count'].map((part) => `${exported(name)}_${part}`),
  ),
]);
const metricLabels: ReadonlySet<string> = new Set(
  Object.values(distributions).flatMap(({ labels }) =>
    labels.flatMap((label) => [label, exported(label)]),
  ),
);

/** Names of the conventions that the instrumentation of the runtime follows. */
const runtimeMetrics = Object.values(conventions)
  .filter((name) => typeof name === 'string')
  .filter((name) => /^(?:nodejs|v8js)\./.test(name))
  .map(exported);

/** Returns true for a metric of the runtime, or for the beginning of one (`nodejs_eventloop_*`). */
function isRuntimeMetric(name: string): boolean {
  if (name.endsWith('_')) return runtimeMetrics.some((metric) => metric.startsWith(name));
  return runtimeMetrics.includes(name);
}

const ownMetric = /\b(gleaner_[a-z0-9_]*[a-z0-9])\b(?!\.[a-z])/g;
const conventionalMetric =
  /\b((?:http|rpc)[._](?:server|request|response)[._][a-z._]*[a-z]|(?:nodejs|v8js)_[a-z_]+)/g;

/** Metrics of the catalog with their labels, and those of the runtime. */
export const metrics: NameCheck = {
  kind: 'metric',
  find: (page) =>
    codeOf(page).flatMap((code) => [
      ...matchesIn(code, ownMetric),
      ...matchesIn(code, conventionalMetric),
    ]),
  exists: (name) => metricNames.has(name) || metricLabels.has(name) || isRuntimeMetric(name),
};

const alertRules = readFileSync(join(root, 'deploy/observability/alerts.yaml'), 'utf8');
const clientSources = textOf(/^clients\/.*(?<!\.test)\.(?:ts|py)$/);

/** Alerts, and the classes of the clients, whose names begin in the same way. */
export const alerts: NameCheck = {
  kind: 'alert or class',
  find: (page) => codeOf(page).flatMap((code) => matchesIn(code, /\b(Gleaner[A-Z]\w+)\b/g)),
  exists: (name) =>
    alertRules.includes(`alert: ${name}\n`) ||
    new RegExp(`\\bclass ${name}\\b`).test(clientSources),
};

const methodNames = new Set(
  services.flatMap(({ name, methods }) =>
    methods.flatMap((method) => [`${name}.${method.name}`, `${name}.method.${method.localName}`]),
  ),
);

const rpcMethod = /\b([A-Z]\w*Service(?:[./][A-Z]|\.method\.[a-z])\w+)/g;

/** Methods of RPC, such as `JobService.WatchJob`, or `JobService.method.watchJob` in the client. */
export const rpcMethods: NameCheck = {
  kind: 'RPC method',
  find: (page) => codeOf(page).flatMap((code) => matchesIn(code, rpcMethod)),
  exists: (name) => methodNames.has(name.replace('/', '.')),
};

function textOf(pattern: RegExp): string {
  const files = trackedFiles.filter((path) => pattern.test(path));
  return files.map((path) => readFileSync(join(root, path), 'utf8')).join('\n');
}
