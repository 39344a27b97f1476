import { accessSync, constants, readFileSync } from 'node:fs';
import { availableParallelism, homedir } from 'node:os';
import { join, resolve } from 'node:path';
import { getHeapStatistics } from 'node:v8';
import { didYouMean } from '../contract/suggest.ts';
import { findBrowser, findInstalledBrowser } from './browser-path.ts';
import { ConfigError } from './config-error.ts';
import { readDotEnv } from './dot-env.ts';
import { parseDuration } from './duration.ts';
import { parseMongoUri } from './mongo-uri.ts';
import {
  type NoticeSettings,
  parseAddresses,
  parseSender,
  parseSmtp,
  parseWebhookSecret,
  parseWebhookUrl,
} from './notice-settings.ts';
import { type Origins, parseOrigins } from './origins.ts';
import { parseRetentionDays, type Retention } from './retention-settings.ts';
import {
  canBeFile,
  type Environment,
  listSecretFiles,
  readSecretFiles,
  type SecretFile,
} from './secret-files.ts';
import {
  type EffectiveSetting,
  listEffectiveSettings,
  type NameWithDefault,
  type SettingName,
  settings,
} from './settings.ts';
import { parseWorkingHours, type WorkingHours } from './working-hours.ts';

/** The configuration with defaults applied. docs/operate.md describes each setting. */
export interface Config {
  httpPort: number;
  grpcPort: number;
  /** Address to listen on. */
  host: string;
  /**
   * Secrets from which keys are derived, newest first, for replicas without a shared data folder. null: generated in
   * the data folder.
   */
  linkSecrets: readonly [string, ...string[]] | null;
  /** Base URL of signed links; null: derived from the HTTP port. */
  publicUrl: string | null;
  /** Absolute path. */
  dataDir: string;
  mongoUri: string | null;
  natsUrl: string | null;
  /** Replicas of the NATS stream; null: 3 on a cluster, 1 on a single server. */
  natsReplicas: number | null;
  s3Url: string | null;
  /** Key of the first operator; null: generated and shown once. */
  operatorKey: string | null;
  origins: Origins;
  approval: boolean;
  /** null: no restriction. */
  workingHours: WorkingHours | null;
  /** Cache lifetimes in milliseconds while a job is processing and after it completed; null: no cache. */
  retrieveCache: { processingMs: number; completedMs: number } | null;
  /** Credits per unit by `kind` or `market.kind`; override the defaults of the kinds. */
  prices: ReadonlyMap<string, number>;
  /** Requests per second of one API key; null: unlimited. */
  requestsPerSecond: number | null;
  /** Free bytes on the data folder's disk below which no work is accepted or started; 0: no limit. */
  minFreeDiskBytes: number;
  /** Maximum open connections of each port. */
  maxConnections: number;
  /** Maximum concurrent batches of one job. */
  jobWindow: number;
  /** Maximum age of a page served for `rescrape=false`, in milliseconds. */
  recentCrawlMs: number;
  /** Price of a unit whose record is reused, as a percentage of the unit price. */
  reusedPricePercent: number;
  /** Whether test keys can be created and used. */
  sandbox: boolean;
  /** User-Agent of every page request. A browser prepends its own. */
  userAgent: string;
  /** Browser for markets that need one; path null: none was found on this machine. */
  browser: { path: string | null; pages: number; memoryBytes: number };
  /** Maximum bytes of decoded pages that a process holds at the same time. */
  pageMemoryBytes: number;
  /** Worker processes; 0: page work runs in this process. */
  workers: number;
  /** Heap limit of a worker process, in bytes. */
  workerMemoryBytes: number;
  /** Scheduled backups of the embedded stack to a folder or the URL of a bucket; null: none. */
  backups: { to: string; everyMs: number; keep: number } | null;
  /** Recipients of job notifications. */
  notices: NoticeSettings;
  /** Whether the console shows the pictures of records, which this service fetches. */
  showsImages: boolean;
  /** Whether users' destinations may be in private networks. */
  privateDestinations: boolean;
  /** Time that records are kept. */
  retention: Retention;
  /** Address of the core for the `gateway` role. */
  coreUrl: string;
  /** Origins whose pages may call the API; `*`: every origin. */
  corsOrigins: readonly string[];
  logLevel: string;
  /** Time between audits of the store for the metrics, in milliseconds; null: none. */
  auditIntervalMs: number | null;
  /** Port for metrics and probes; null: none. */
  opsPort: number | null;
  /** Interval between pushes of metrics over OTLP, in milliseconds; null: metrics are not pushed. */
  metricsPushMs: number | null;
  /** Whether traces are exported over OTLP. */
  exportsTraces: boolean;
  /** The environment variables that the configuration was read from, for child processes. */
  environment: Environment;
  /** Files that secrets were read from. */
  secretFiles: readonly SecretFile[];
  /** Every setting with its effective value, for operators. */
  effectiveSettings: readonly EffectiveSetting[];
}

export { ConfigError };

const levels = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'];

/** Settings of the command line as a client. A `.env` file sets them for clients only; see clientEnvironment(). */
const clientSettings = ['GLEANER_URL', 'GLEANER_API_KEY', 'GLEANER_CONFIG', 'GLEANER_PROFILE'];

/**
 * Returns the environment with the settings of the `.env` file in `folder`, for a service. A setting that the environment
 * has already, directly or by `<name>_FILE`, keeps its value. Returns the environment itself if GLEANER_DOTENV is off.
 * Throws ConfigError for a file that cannot be read.
 */
export function withDotEnv(environment: Environment, folder: string): Environment {
  if (environment.GLEANER_DOTENV === 'off') return environment;
  const isSet = (name: string) => Boolean(environment[name]);
  const missing = Object.entries(readDotEnv(folder)?.values ?? {}).filter(([name]) => {
    const direct = name.replace(/_FILE$/, '');
    return !clientSettings.includes(direct) && !isSet(direct) && !isSet(`${direct}_FILE`);
  });
  return { ...environment, ...Object.fromEntries(missing) };
}

/** Names of variables that are not settings of a service: of clients, of the compose file, and of the tests. */
const otherNames = [
  ...[...clientSettings, 'GLEANER_API_KEY_FILE'],
  ...['GLEANER_GRAFANA_PASSWORD', 'GLEANER_S3_PASSWORD', 'GLEANER_S3_PUBLIC_URL'],
  ...['GLEANER_TEST_ENGINES', 'GLEANER_TEST_SECRET', 'GLEANER_TEST_SEED'],
];

/** Names that Kubernetes and Docker give variables about a service called "gleaner". */
const linkName = /^GLEANER_(\w+_)?(SERVICE_HOST|SERVICE_PORT\w*|PORT(_\d+_\w+)?)$/;

/** Returns a problem for each variable that looks like a setting and is none. */
function findUnknownSettings(environment: Environment): string[] {
  const names = Object.keys(settings);
  const files = (names as SettingName[]).filter(canBeFile).map((name) => `${name}_FILE`);
  const known = new Set([...names, ...files, ...otherNames]);
  return Object.keys(environment)
    .filter((name) => name.startsWith('GLEANER_') && !known.has(name) && !linkName.test(name))
    .map((name) => `${name} is not a setting.${didYouMean(name, known)}`);
}

/**
 * Reads the configuration from environment variables. Relative paths in them start at `folder`, by default the current
 * one. Throws a ConfigError with a line for each problem, which names the variable and its value. Variables that look like
 * settings and are none are problems too.
 */
export function loadConfig(given: Environment, folder = '.'): Config {
  const environment = readSecretFiles(given, folder);
  const problems = findUnknownSettings(environment);
  function read<T>(name: NameWithDefault, parse: (text: string) => T): T;
  function read<T>(name: SettingName, parse: (text: string) => T): T | null;
  function read<T>(name: SettingName, parse: (text: string) => T): T | null {
    const text = environment[name] || settings[name].default;
    if (text === null) return null;
    try {
      return parse(text);
    } catch (error) {
      // Even an invalid secret must not be logged.
      const shown = 'secret' in settings[name] ? '…' : text;
      problems.push(`${name}=${shown}: ${(error as Error).message}`);
      return invalid;
    }
  }
  const config = collectProblems(problems, () => buildConfig(given, environment, folder, read));
  if (config === null || problems.length > 0) throw new ConfigError(problems.join('\n'));
  return config;
}

/** Stands for the value of an invalid setting: the configuration with it is never used. */
const invalid = undefined as never;

/** Adds the error of `build` to the problems and returns null, unless it follows from an invalid setting. */
function collectProblems(problems: string[], build: () => Config): Config | null {
  try {
    return build();
  } catch (error) {
    if (error instanceof ConfigError) problems.push(error.message);
    else if (problems.length === 0) throw error;
    return null;
  }
}

function buildConfig(given: Environment, environment: Environment, folder: string, read: Read): Config {
  const path: PathOf = (text) => resolve(folder, text);
  const workers = read('GLEANER_WORKERS', (text) => integer(text, 0, 64)) ?? defaultWorkers();
  const workerMemoryBytes = read('GLEANER_WORKER_MEMORY', (text) => integer(text, 64, 1_048_576)) * 1024 ** 2;
  const heapBytes = workers > 0 ? workerMemoryBytes : getHeapStatistics().heap_size_limit;
  const pageMemory =
    read('GLEANER_PAGE_MEMORY', (text) => integer(text, 1, 65_536)) ?? defaultPageMemory(heapBytes);
  const engines = readEngines(read);
  const dataDir = read('GLEANER_DATA_DIR', path);
  const browser = readBrowser(read, dataDir, environment.PATH ?? '', path);
  read('GLEANER_DOTENV', onOff);
  return {
    environment: { ...given },
    secretFiles: listSecretFiles(given, folder),
    effectiveSettings: listEffectiveSettings(environment, {
      GLEANER_BROWSER: browser.path,
      GLEANER_PAGE_MEMORY: `${pageMemory}`,
      GLEANER_WORKERS: `${workers}`,
    }),
    httpPort: read('GLEANER_HTTP_PORT', port),
    grpcPort: read('GLEANER_GRPC_PORT', port),
    host: read('GLEANER_HOST', (text) => text),
    linkSecrets: read('GLEANER_LINK_SECRETS', secrets),
    publicUrl: read('GLEANER_PUBLIC_URL', (text) => url(text, /^https?:$/).replace(/\/+$/, '')),
    dataDir,
    ...engines,
    operatorKey: read('GLEANER_OPERATOR_KEY', operatorKey),
    origins: read('GLEANER_ORIGINS', (text) => parseOrigins(readFileSync(path(text), 'utf8'))) ?? new Map(),
    approval: read('GLEANER_APPROVAL', onOff),
    workingHours: read('GLEANER_WORKING_HOURS', (text) => (text === 'off' ? null : parseWorkingHours(text))),
    retrieveCache: read('GLEANER_RETRIEVE_CACHE', retrieveCache),
    prices: read('GLEANER_PRICES', prices),
    requestsPerSecond: read('GLEANER_REQUESTS_PER_SECOND', positive),
    minFreeDiskBytes: read('GLEANER_MIN_FREE_DISK', (text) => integer(text, 0, 1_000_000_000)) * 1024 ** 2,
    maxConnections: read('GLEANER_MAX_CONNECTIONS', (text) => integer(text, 1, 1_000_000)),
    reusedPricePercent: read('GLEANER_REUSED_PRICE', (text) => integer(text, 0, 100)),
    jobWindow: read('GLEANER_JOB_WINDOW', (text) => integer(text, 1, 10_000)),
    sandbox: read('GLEANER_SANDBOX', onOff),
    userAgent: read('GLEANER_USER_AGENT', (text) => text),
    browser,
    pageMemoryBytes: pageMemory * 1024 ** 2,
    workers,
    workerMemoryBytes,
    backups: readBackups(read, engines.mongoUri !== null, path),
    notices: readNotices(read),
    privateDestinations: read('GLEANER_DESTINATION_PRIVATE', onOff),
    showsImages: read('GLEANER_IMAGES', proxyOrOff),
    ...readRetention(read),
    coreUrl: read('GLEANER_CORE_URL', (text) => url(text, /^https?:$/)),
    corsOrigins: read('GLEANER_CORS_ORIGINS', corsOrigins) ?? [],
    logLevel: read('GLEANER_LOG_LEVEL', level),
    ...readTelemetry(read),
  };
}

/** Reads the addresses of the engines. Throws ConfigError for half of the distributed stack. */
function readEngines(read: Read): Pick<Config, 'mongoUri' | 'natsUrl' | 'natsReplicas' | 's3Url'> {
  const mongoUri = read('MONGODB_URI', parseMongoUri);
  const natsUrl = read('NATS_URL', (text) => text);
  if ((mongoUri === null) !== (natsUrl === null)) {
    throw new ConfigError(
      `MONGODB_URI and NATS_URL go together: ${mongoUri === null ? 'MONGODB_URI' : 'NATS_URL'} is missing. ` +
        'Set both for the distributed stack, or neither for the embedded one.',
    );
  }
  return {
    mongoUri,
    natsUrl,
    natsReplicas: read('GLEANER_NATS_REPLICAS', (text) => integer(text, 1, 5)),
    s3Url: read('GLEANER_S3_URL', (text) => url(text, /^https?:$/)),
  };
}

/** One worker process per core. */
const defaultWorkers = () => Math.max(1, Math.min(64, availableParallelism()));

/** Returns the value, or null if neither the environment nor the settings table has one. */
interface Read {
  <T>(name: NameWithDefault, parse: (text: string) => T): T;
  <T>(name: SettingName, parse: (text: string) => T): T | null;
}

/** Returns an absolute path. */
type PathOf = (text: string) => string;

function readRetention(read: Read): Pick<Config, 'recentCrawlMs' | 'retention'> {
  const retention = {
    resultsMs: read('GLEANER_RETAIN_RESULTS_DAYS', parseRetentionDays),
    jobsMs: read('GLEANER_RETAIN_JOBS_DAYS', parseRetentionDays),
    deliveriesMs: read('GLEANER_RETAIN_DELIVERIES_DAYS', parseRetentionDays),
    auditLogMs: read('GLEANER_RETAIN_AUDIT_LOG_DAYS', parseRetentionDays),
    historyMs: read('GLEANER_RETAIN_HISTORY_DAYS', parseRetentionDays),
  };
  return { recentCrawlMs: read('GLEANER_RECENT_CRAWL', duration), retention };
}

function readBrowser(read: Read, dataDir: string, searchPath: string, path: PathOf): Config['browser'] {
  return {
    path:
      read('GLEANER_BROWSER', (text) => executable(text, path)) ??
      findInstalledBrowser(dataDir) ??
      findBrowser(searchPath),
    pages: read('GLEANER_BROWSER_PAGES', (text) => integer(text, 1, 64)),
    memoryBytes: read('GLEANER_BROWSER_MEMORY', (text) => integer(text, 256, 1_048_576)) * 1024 ** 2,
  };
}

function readBackups(read: Read, isDistributed: boolean, path: PathOf): Config['backups'] {
  const to = read('GLEANER_BACKUP_TO', (text) => {
    if (isDistributed) throw new Error('back up MongoDB with its own tools, and unset this');
    return /^https?:/.test(text) ? text : path(text);
  });
  const everyMs = read('GLEANER_BACKUP_EVERY', (text) => atLeast(duration(text), 60_000, '1m'));
  const keep = read('GLEANER_BACKUP_KEEP', (text) => integer(text, 1, 10_000));
  return to === null ? null : { to, everyMs, keep };
}

function readNotices(read: Read): NoticeSettings {
  const url = read('GLEANER_OPERATOR_WEBHOOK_URL', parseWebhookUrl);
  const secret = read('GLEANER_OPERATOR_WEBHOOK_SECRET', parseWebhookSecret);
  goTogether({ GLEANER_OPERATOR_WEBHOOK_URL: url, GLEANER_OPERATOR_WEBHOOK_SECRET: secret });
  const smtp = read('GLEANER_SMTP_URL', parseSmtp);
  const from = read('GLEANER_EMAIL_FROM', parseSender);
  const to = read('GLEANER_OPERATOR_EMAIL', parseAddresses);
  goTogether({ GLEANER_SMTP_URL: smtp, GLEANER_EMAIL_FROM: from, GLEANER_OPERATOR_EMAIL: to });
  return {
    operatorWebhook: url === null || secret === null ? null : { url, secret },
    email: smtp === null || from === null || to === null ? null : { smtp, from, to },
    privateWebhooks: read('GLEANER_WEBHOOK_PRIVATE', onOff),
  };
}

/**
 * Reads the operations port, and the standard variables of OpenTelemetry that decide whether metrics are pushed and
 * traces are exported.
 */
function readTelemetry(
  read: Read,
): Pick<Config, 'opsPort' | 'metricsPushMs' | 'exportsTraces' | 'auditIntervalMs'> {
  const httpUrl = (text: string) => url(text, /^https?:$/);
  const shared = read('OTEL_EXPORTER_OTLP_ENDPOINT', httpUrl);
  const ofMetrics = read('OTEL_EXPORTER_OTLP_METRICS_ENDPOINT', httpUrl);
  const ofTraces = read('OTEL_EXPORTER_OTLP_TRACES_ENDPOINT', httpUrl);
  const isDisabled = read('OTEL_SDK_DISABLED', trueFalse);
  const metricsExporter = read('OTEL_METRICS_EXPORTER', exporter);
  const tracesExporter = read('OTEL_TRACES_EXPORTER', exporter);
  read('OTEL_EXPORTER_OTLP_PROTOCOL', (text) => {
    if (text !== 'http/protobuf') throw new Error('expected http/protobuf');
  });
  const pushMs = read('OTEL_METRIC_EXPORT_INTERVAL', (text) => integer(text, 1_000, 86_400_000));
  const isPushed = (shared ?? ofMetrics) !== null && !isDisabled && metricsExporter === 'otlp';
  // The SDK's default endpoint is a collector on this host.
  const isTraced = tracesExporter === 'otlp' || (tracesExporter === null && (shared ?? ofTraces) !== null);
  return {
    opsPort: read('GLEANER_OPS_PORT', port),
    metricsPushMs: isPushed ? pushMs : null,
    auditIntervalMs: read('GLEANER_AUDIT_INTERVAL', auditInterval),
    exportsTraces: isTraced && !isDisabled,
  };
}

function exporter(text: string): string {
  if (text !== 'otlp' && text !== 'none') throw new Error('expected otlp or none');
  return text;
}

function goTogether(values: Partial<Record<SettingName, unknown>>): void {
  const names = Object.keys(values) as SettingName[];
  const missing = names.filter((name) => values[name] === null);
  if (missing.length === 0 || missing.length === names.length) return;
  throw new ConfigError(`${names.join(', ')} go together: ${missing.join(', ')} is missing.`);
}

function integer(text: string, min: number, max: number): number {
  const value = Number(text);
  if (!/^\d+$/.test(text) || value < min || value > max) {
    throw new Error(`expected an integer from ${min} to ${max}`);
  }
  return value;
}

/**
 * Returns a 32nd of the heap limit in MiB, at least 1: a page of empty JSON objects takes 22 times its size when
 * parsed.
 */
function defaultPageMemory(heapBytes: number): number {
  return Math.max(1, Math.floor(heapBytes / 32 / 1024 ** 2));
}

const port = (text: string) => integer(text, 0, 65_535);

function positive(text: string): number | null {
  if (text === 'off') return null;
  const value = Number(text);
  if (!(value > 0)) throw new Error('expected a number above 0, or off');
  return value;
}

function url(text: string, protocol: RegExp): string {
  const scheme = /^[a-z0-9+]+:/.exec(text)?.[0];
  if (scheme === undefined || !protocol.test(scheme)) throw new Error('expected a URL');
  return text;
}

function proxyOrOff(text: string): boolean {
  if (text !== 'proxy' && text !== 'off') throw new Error('expected proxy or off');
  return text === 'proxy';
}

function onOff(text: string): boolean {
  if (text !== 'on' && text !== 'off') throw new Error('expected on or off');
  return text === 'on';
}

function level(text: string): string {
  if (!levels.includes(text)) throw new Error(`expected one of ${levels.join(', ')}`);
  return text;
}

function trueFalse(text: string): boolean {
  if (text !== 'true' && text !== 'false') throw new Error('expected true or false');
  return text === 'true';
}

function operatorKey(text: string): string {
  if (!/^[\x21-\x7e]{8,200}$/.test(text)) throw new Error('expected 8 to 200 visible ASCII characters');
  return text;
}

function secrets(text: string): [string, ...string[]] {
  const given = text.split(',');
  if (given.some((secret) => secret.length < 32))
    throw new Error('expected secrets of 32 characters or more, separated by commas');
  return given as [string, ...string[]];
}

function corsOrigins(text: string): string[] {
  if (text === '*') return ['*'];
  const origins = text.split(',').map((origin) => origin.trim());
  // A page's origin has no path, user, or default port, and is in lower case.
  const wrong = origins.find(
    (origin) => !/^https?:/.test(origin) || !URL.canParse(origin) || new URL(origin).origin !== origin,
  );
  if (wrong === undefined) return origins;
  throw new Error(`expected * or origins such as https://app.example, separated by commas; not "${wrong}"`);
}

function executable(text: string, path: PathOf): string {
  accessSync(path(text), constants.X_OK);
  return path(text);
}

function duration(text: string): number {
  const ms = parseDuration(text);
  if (ms === null) throw new Error('expected a duration such as 120s or 24h');
  return ms;
}

function atLeast(value: number, min: number, minText: string): number {
  if (value < min) throw new Error(`expected at least ${minText}`);
  return value;
}

function auditInterval(text: string): number | null {
  if (text === 'off') return null;
  const ms = duration(text);
  if (ms < 60_000) throw new Error('expected 1m or more, or off');
  return ms;
}

function retrieveCache(text: string): Config['retrieveCache'] {
  if (text === 'off') return null;
  const parts = text.split(',');
  if (parts.length !== 2) throw new Error('expected two durations such as 120s,24h, or off');
  return { processingMs: duration(parts[0]!), completedMs: duration(parts[1]!) };
}

function prices(text: string): Config['prices'] {
  const parsed: unknown = JSON.parse(text);
  if (typeof parsed !== 'object' || parsed === null || Array.isArray(parsed))
    throw new Error('expected a JSON object');
  return new Map(
    Object.entries(parsed).map(([name, price]) => {
      if (!Number.isInteger(price) || price < 0 || price > 10_000) {
        throw new Error(`${name}: expected an integer from 0 to 10000`);
      }
      return [name, price as number];
    }),
  );
}

/** Environment variables of the command line as a client; null: not set. */
export interface ClientEnvironment {
  url: string | null;
  apiKey: string | null;
  operatorKey: string | null;
  profile: string | null;
  /** Absolute path of the file with profiles, which may not exist. */
  configFile: string;
  /** Address and keys in the `.env` file of the current folder, which may belong to someone else. */
  dotEnv: Pick<ClientEnvironment, 'url' | 'apiKey' | 'operatorKey'>;
}

/**
 * Reads the client settings of the command line; those of the `.env` file in `folder` apart, because it may come from
 * someone else. They are validated where they are used, because flags override them.
 * Throws ConfigError for a secret's file that cannot be read.
 */
export function clientEnvironment(
  given: Environment,
  { folder = '.', home = homedir() }: { folder?: string; home?: string } = {},
): ClientEnvironment {
  const environment = readSecretFiles(given, folder);
  const settingsFolder = environment.XDG_CONFIG_HOME || join(home, '.config');
  const dotEnv = environment.GLEANER_DOTENV === 'off' ? null : readDotEnv(folder);
  return {
    ...addressOf(environment),
    dotEnv: addressOf(readSecretFiles(dotEnv?.values ?? {}, folder)),
    profile: environment.GLEANER_PROFILE || null,
    configFile: resolve(folder, environment.GLEANER_CONFIG || join(settingsFolder, 'gleaner', 'config.json')),
  };
}

function addressOf(environment: Environment): ClientEnvironment['dotEnv'] {
  return {
    url: environment.GLEANER_URL || null,
    apiKey: environment.GLEANER_API_KEY || null,
    operatorKey: environment.GLEANER_OPERATOR_KEY || null,
  };
}

/** Returns the environment of a child process: `environment` is complete, so the child reads no `.env` file. */
export function childEnvironment(environment: Environment, settings: Environment = {}): Environment {
  return { ...environment, ...settings, GLEANER_DOTENV: 'off' };
}

/** Variables that a service for trials may use. The data folder is that of the demo's own folder. */
const harmless = [
  ...['PATH', 'HOME', 'TMPDIR', 'LANG', 'TZ', 'USER'],
  ...['NODE_COMPILE_CACHE', 'NODE_EXTRA_CA_CERTS', 'SSL_CERT_FILE'],
  ...['GLEANER_BROWSER', 'GLEANER_DATA_DIR', 'GLEANER_WORKERS'],
];

/**
 * Returns an environment of only the harmless variables of `given` and of `settings`, for a service for trials: it must
 * never reach the data, the engines, or the receivers of a real one. `given` has nothing of a `.env` file.
 */
export function isolatedEnvironment(given: Environment, settings: Environment = {}): Environment {
  const kept = harmless.flatMap((name) => (given[name] === undefined ? [] : [[name, given[name]] as const]));
  return childEnvironment(Object.fromEntries(kept), settings);
}
