import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { ConfigError, clientEnvironment, loadConfig } from './config.ts';
import { settings } from './settings.ts';

test('loadConfig() applies a default to every setting', () => {
  const config = loadConfig({});
  expect(config).toMatchObject({
    httpPort: 8080,
    grpcPort: 9090,
    approval: true,
    mongoUri: null,
    s3Url: null,
  });
  expect(config.workingHours).toEqual({ startMinute: 480, endMinute: 1080, offsetMinutes: 480 });
  expect(config.retrieveCache).toEqual({ processingMs: 120_000, completedMs: 86_400_000 });
});

test.each([
  ['GLEANER_HTTP_PORT', '80a'],
  ['GLEANER_GRPC_PORT', '70000'],
  ['GLEANER_PUBLIC_URL', 'example.org'],
  ['GLEANER_PUBLIC_URL', 'https://'],
  ['GLEANER_PUBLIC_URL', 'https://example.org/gleaner?x=1'],
  ['GLEANER_PUBLIC_URL', 'https://example.org/?'],
  ['GLEANER_PUBLIC_URL', 'https://example.org/#console'],
  ['GLEANER_PUBLIC_URL', 'https://key:secret@example.org/gleaner'],
  ['GLEANER_APPROVAL', 'yes'],
  ['GLEANER_IMAGES', 'on'],
  ['GLEANER_WORKING_HOURS', '8 to 6'],
  ['GLEANER_RETRIEVE_CACHE', '120'],
  ['GLEANER_PRICES', '{"variant_sold": -1}'],
  ['GLEANER_PRICES', '[1]'],
  ['GLEANER_OPERATOR_KEY', 'short'],
  ['GLEANER_ORIGINS', '/nonexistent/origins.json'],
  ['GLEANER_LOG_LEVEL', 'loud'],
  ['GLEANER_BROWSER', '/nonexistent/chromium'],
  ['GLEANER_BROWSER_URL', 'browser:9222'],
  ['GLEANER_BROWSER_URL', 'http://one:9222,two'],
  ['GLEANER_CORS_ORIGINS', 'https://app.example/'],
  ['GLEANER_CORS_ORIGINS', 'https://app.example:443'],
  ['GLEANER_CORS_ORIGINS', 'https://app.example,*'],
  ['GLEANER_CORS_ORIGINS', 'null'],
  ['GLEANER_LINK_SECRETS', 'short'],
  ['GLEANER_WORKERS', '-1'],
  ['GLEANER_WORKERS', '65'],
  ['GLEANER_OPS_PORT', '65536'],
  ['OTEL_EXPORTER_OTLP_PROTOCOL', 'grpc'],
  ['GLEANER_RETAIN_JOBS_DAYS', '0'],
  ['GLEANER_RETAIN_RESULTS_DAYS', '1.5'],
])('loadConfig() rejects a bad %s and names it', (name, value) => {
  expect(() => loadConfig({ [name]: value })).toThrow(ConfigError);
  expect(() => loadConfig({ [name]: value })).toThrow(new RegExp(`^${name}=`));
});

test('loadConfig() opens the operations port 9464 by default', () => {
  expect(loadConfig({}).opsPort).toBe(9464);
  expect(loadConfig({ GLEANER_OPS_PORT: 'off' }).opsPort).toBeNull();
  expect(loadConfig({ GLEANER_OPS_PORT: '0' }).opsPort).toBe(0);
});

test('loadConfig() starts one worker process fewer than cores by default, on both stacks', () => {
  const workers = Math.max(1, Math.min(availableParallelism() - 1, 64));
  expect(loadConfig({ MONGODB_URI: 'mongodb://h/d', NATS_URL: 'nats://h' })).toMatchObject({
    workers,
  });
  expect(loadConfig({})).toMatchObject({ workers });
  expect(loadConfig({ GLEANER_WORKERS: '0' }).workers).toBe(0);
  const shown = loadConfig({}).effectiveSettings.find(({ name }) => name === 'GLEANER_WORKERS');
  expect(shown).toMatchObject({ value: String(workers), set: false });
});

test('loadConfig() pushes metrics only if the variables of OpenTelemetry say so', () => {
  const endpoint = { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:4318' };
  const pushMs = (environment: Record<string, string>) => loadConfig(environment).metricsPushMs;
  expect(pushMs({})).toBeNull();
  expect(pushMs(endpoint)).toBe(60_000);
  expect(pushMs({ ...endpoint, OTEL_METRIC_EXPORT_INTERVAL: '5000' })).toBe(5_000);
  expect(pushMs({ OTEL_EXPORTER_OTLP_METRICS_ENDPOINT: 'http://127.0.0.1:4318/v1/metrics' })).toBe(
    60_000,
  );
  expect(pushMs({ ...endpoint, OTEL_METRICS_EXPORTER: 'none' })).toBeNull();
  expect(pushMs({ ...endpoint, OTEL_SDK_DISABLED: 'true' })).toBeNull();
});

test('loadConfig() exports traces only if the variables of OpenTelemetry say so', () => {
  const endpoint = { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:4318' };
  const isTraced = (environment: Record<string, string>) => loadConfig(environment).exportsTraces;
  expect(isTraced({})).toBe(false);
  expect(isTraced(endpoint)).toBe(true);
  expect(isTraced({ OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: 'http://127.0.0.1:4318/v1/traces' })).toBe(
    true,
  );
  expect(
    isTraced({ OTEL_EXPORTER_OTLP_METRICS_ENDPOINT: 'http://127.0.0.1:4318/v1/metrics' }),
  ).toBe(false);
  expect(isTraced({ OTEL_TRACES_EXPORTER: 'otlp' })).toBe(true);
  expect(isTraced({ ...endpoint, OTEL_TRACES_EXPORTER: 'none' })).toBe(false);
  expect(isTraced({ ...endpoint, OTEL_SDK_DISABLED: 'true' })).toBe(false);
});

test('loadConfig() reads retention in days, and keeps jobs and results by default', () => {
  const day = 86_400_000;
  const defaults = {
    resultsMs: null,
    jobsMs: null,
    deliveriesMs: 30 * day,
    auditLogMs: 400 * day,
    historyMs: 400 * day,
  };
  expect(loadConfig({}).retention).toEqual(defaults);
  const settings = { GLEANER_RETAIN_RESULTS_DAYS: '1', GLEANER_RETAIN_JOBS_DAYS: 'off' };
  expect(loadConfig(settings).retention).toEqual({ ...defaults, resultsMs: day });
});

test('loadConfig() rejects one engine address without the other', () => {
  expect(() => loadConfig({ NATS_URL: 'nats://127.0.0.1:4222' })).toThrow(/MONGODB_URI is missing/);
  expect(() => loadConfig({ MONGODB_URI: 'mongodb://127.0.0.1' })).toThrow(/NATS_URL is missing/);
});

test('loadConfig() rejects scheduled backups of the distributed stack', () => {
  const engines = { MONGODB_URI: 'mongodb://127.0.0.1/gleaner', NATS_URL: 'nats://127.0.0.1' };
  expect(() => loadConfig({ ...engines, GLEANER_BACKUP_TO: '/backups' })).toThrow(
    'GLEANER_BACKUP_TO=…: back up MongoDB with its own tools, and unset this',
  );
});

test('loadConfig() rejects a MongoDB URI that weakens consistency without showing its password', () => {
  const MONGODB_URI = 'mongodb://ann:pw@one.example/gleaner?readPreference=secondary';
  expect(() => loadConfig({ MONGODB_URI, NATS_URL: 'nats://127.0.0.1:4222' })).toThrow(
    /^MONGODB_URI=…: the option readPreference=secondary weakens .*set it to primary$/,
  );
});

test('loadConfig() and clientEnvironment() read exactly the listed settings', () => {
  const read = new Set<string>();
  const environment = new Proxy({} as Record<string, string>, {
    get: (_target, name) => {
      read.add(String(name));
      return undefined;
    },
  });
  loadConfig(environment);
  clientEnvironment(environment);
  // Not settings: search paths for browsers and configuration files.
  for (const name of ['PATH', 'XDG_CONFIG_HOME', 'GLEANER_TEST_LIMITS']) read.delete(name);
  for (const name of read) if (name.startsWith('OTEL_')) read.delete(name);
  for (const name of Object.keys(settings)) read.delete(`${name}_FILE`);
  expect([...read].toSorted()).toEqual(Object.keys(settings).toSorted());
});

test('loadConfig() accepts signed requests only with an address where sites find the keys', () => {
  const folder = mkdtempSync(join(tmpdir(), 'gleaner-config-'));
  const file = join(folder, 'origins.json');
  writeFileSync(file, '{"mkta": {"sg": "https://shop.example", "sign": true}}');
  const load = (url: string) => loadConfig({ GLEANER_ORIGINS: file, GLEANER_PUBLIC_URL: url });
  expect(load('https://gleaner.example').origins.get('mkta')?.sign).toBe(true);
  for (const url of ['', 'http://gleaner.example'])
    expect(() => load(url)).toThrow(
      'GLEANER_ORIGINS: mkta.sign needs a GLEANER_PUBLIC_URL with https',
    );
  rmSync(folder, { recursive: true });
});

test('effectiveSettings shows values but no secrets', () => {
  const secret = 'mongodb://ann:secret@db.example.org';
  const { effectiveSettings } = loadConfig({
    GLEANER_HTTP_PORT: '0',
    GLEANER_HOST: '',
    GLEANER_OPERATOR_KEY: 'choose-a-long-one',
    GLEANER_BROWSER: process.execPath,
    MONGODB_URI: secret,
    NATS_URL: 'nats://ann:secret@queue.example.org',
  });
  const shown = new Map(effectiveSettings.map(({ name, value, set }) => [name, [value, set]]));
  expect(shown.get('GLEANER_HTTP_PORT')).toEqual(['0', true]);
  expect(shown.get('GLEANER_HOST')).toEqual(['127.0.0.1', false]);
  expect(shown.get('GLEANER_PUBLIC_URL')).toEqual(['', false]);
  expect(shown.get('GLEANER_BROWSER')).toEqual([process.execPath, true]);
  expect(shown.get('GLEANER_OPERATOR_KEY')).toEqual(['(set)', true]);
  expect(shown.get('GLEANER_LINK_SECRETS')).toEqual(['(generated)', false]);
  expect(shown.get('GLEANER_S3_URL')).toEqual(['', false]);
  expect(JSON.stringify(effectiveSettings)).not.toMatch(/secret@|choose/);
  expect(effectiveSettings.map(({ name }) => name)).toEqual(
    effectiveSettings.map(({ name }) => name).toSorted(),
  );
});

describe('variables that are not settings', () => {
  test('are refused with a suggestion', () => {
    expect(() =>
      loadConfig({ GLEANER_ORIGIN: 'origins.json', GLEANER_COLOUR_OF_LOGS: 'blue' }),
    ).toThrow(
      'GLEANER_ORIGIN is not a setting. Did you mean GLEANER_ORIGINS?\nGLEANER_COLOUR_OF_LOGS is not a setting.',
    );
  });

  test('are ignored if they are of clients, of other programs, or of a service called gleaner', () => {
    const links = { GLEANER_SERVICE_HOST: '10.0.0.1', GLEANER_PORT: 'tcp://10.0.0.1:8080' };
    const more = { GLEANER_PORT_8080_TCP_ADDR: '10.0.0.1', GLEANER_API_SERVICE_PORT_HTTP: '8080' };
    expect(() =>
      loadConfig({ ...links, ...more, GLEANER_URL: 'http://here', HOME: '/root' }),
    ).not.toThrow();
  });

  test('are refused if they name a port that a link to a service would not have', () => {
    expect(() => loadConfig({ GLEANER_PORT: '8090' })).toThrow('GLEANER_PORT is not a setting');
    expect(() => loadConfig({ GLEANER_REST_PORT: '8090' })).toThrow(ConfigError);
  });
});

test('all invalid settings are named at once', () => {
  expect(() =>
    loadConfig({
      GLEANER_HTTP_PORT: 'x',
      GLEANER_WORKERS: '-1',
      GLEANER_ORIGIN: 'a',
      NATS_URL: 'nats://here',
    }),
  ).toThrow(/GLEANER_ORIGIN[\s\S]*GLEANER_WORKERS=-1[\s\S]*MONGODB_URI and NATS_URL go together/);
  expect(() => loadConfig({ GLEANER_HTTP_PORT: 'x', GLEANER_GRPC_PORT: 'y' })).toThrow(
    /GLEANER_GRPC_PORT=y[\s\S]*GLEANER_HTTP_PORT=x/,
  );
});

test.each([
  ['https://example.org', 'https://example.org'],
  ['https://EXAMPLE.org:443/Gleaner//', 'https://example.org/Gleaner'],
  ['http://[::1]:8080/a b', 'http://[::1]:8080/a%20b'],
])('the base URL of GLEANER_PUBLIC_URL=%s is %s', (given, base) => {
  expect(loadConfig({ GLEANER_PUBLIC_URL: given }).publicUrl).toBe(base);
});

test('GLEANER_HOST may have the brackets of a URL', () => {
  expect(loadConfig({ GLEANER_HOST: '[::1]' }).host).toBe('::1');
});
