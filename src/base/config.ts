import { availableParallelism, homedir } from 'node:os';
import { join, resolve } from 'node:path';
import { didYouMean } from '../contract/suggest.ts';
import { findBrowser, findInstalledBrowser } from './browser-path.ts';
import { ConfigError } from './config-error.ts';
import { readDotEnv } from './dot-env.ts';
import { type Limits, type Retention, readLimits, recordRetention } from './limits.ts';
import type { NoticeSettings } from './notification-settings.ts';
import type { Origins } from './origins.ts';
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
  parseSettings,
  type SettingFields,
  type SettingName,
  type SettingValues,
  settingFields,
  settings,
} from './settings.ts';

/** The configuration with defaults applied. docs/settings.md describes each setting. */
export interface Config extends SettingFields {
  origins: Origins;
  /** DevTools addresses of browsers that run elsewhere. Empty: workers start a browser. */
  browserUrls: readonly string[];
  /** Worker processes; 0: page work runs in this process. */
  workers: number;
  /** Origins whose pages may call the API; `*`: every origin. */
  corsOrigins: readonly string[];
  /** Recipients of job notifications. */
  notices: NoticeSettings;
  /** Time that records are kept. */
  retention: Retention;
  limits: Limits;
  /**
   * Interval between pushes of metrics over OTLP, in milliseconds. Null: metrics are not pushed.
   */
  metricsPushMs: number | null;
  /** True if traces are exported over OTLP. */
  exportsTraces: boolean;
  /** The environment variables that the configuration was read from, for child processes. */
  environment: Environment;
  /** Files that secrets were read from. */
  secretFiles: readonly SecretFile[];
  /** Every setting with its effective value, for operators. */
  effectiveSettings: readonly EffectiveSetting[];
}

export { ConfigError };

/**
 * Settings of the command line as a client. A `.env` file sets them for clients only; see
 * clientEnvironment().
 */
const clientSettings = ['GLEANER_URL', 'GLEANER_API_KEY', 'GLEANER_CONFIG', 'GLEANER_PROFILE'];

/**
 * Returns the environment with the settings of the `.env` file in `folder`, for a service. A
 * setting that the environment has already, directly or by `<name>_FILE`, keeps its value. Returns
 * the environment itself if GLEANER_DOTENV is off. Throws ConfigError for a file that cannot be
 * read.
 */
export function withDotEnv(environment: Environment, folder: string): Environment {
  if (environment.GLEANER_DOTENV === 'off') return environment;
  const completed: Environment = { ...environment };
  for (const [name, value] of Object.entries(readDotEnv(folder)?.values ?? {})) {
    const setting = name.replace(/_FILE$/, '');
    const isSet = Boolean(environment[setting] || environment[`${setting}_FILE`]);
    if (!isSet && !clientSettings.includes(setting)) completed[name] = value;
  }
  return completed;
}

/**
 * Names of variables that are not settings of a service: of clients, of the compose file, and of
 * the tests.
 */
export const otherNames = [
  ...clientSettings,
  'GLEANER_API_KEY_FILE',
  'GLEANER_GRAFANA_PASSWORD',
  'GLEANER_S3_PASSWORD',
  'GLEANER_S3_PUBLIC_URL',
  'GLEANER_TEST_ENGINES',
  'GLEANER_TEST_LIMITS',
  'GLEANER_TEST_SECRET',
  'GLEANER_TEST_SEED',
];

/** Names that Kubernetes and Docker give variables about a service called "gleaner". */
const linkName = /^GLEANER_(\w+_)?(SERVICE_HOST|SERVICE_PORT\w*|PORT_\d+_\w+)$/;

/** Such a name that a misspelled setting may have, too: the value of a link is a URL. */
const linkUrlName = /^GLEANER_(\w+_)?PORT$/;

const isLink = (name: string, value: string) =>
  linkName.test(name) || (linkUrlName.test(name) && value.includes('://'));

/** Returns a problem for each variable that is named like a setting but unknown. */
function findUnknownSettings(environment: Environment): string[] {
  const names = Object.keys(settings);
  const fileNames = (names as SettingName[]).filter(canBeFile);
  const files = fileNames.map((name) => `${name}_FILE`);
  const allowed = new Set([...names, ...files, ...otherNames]);
  const problems: string[] = [];
  for (const [name, value = ''] of Object.entries(environment)) {
    if (!name.startsWith('GLEANER_') || allowed.has(name) || isLink(name, value)) continue;
    problems.push(`${name} is not a setting.${didYouMean(name, allowed)}`);
  }
  return problems;
}

/**
 * Reads the configuration from environment variables. Relative paths in them start at `folder`, by
 * default the current one. Throws a ConfigError with a line for each problem, which names the
 * variable and its value. Variables that look like settings and are none are problems too.
 */
export function loadConfig(variables: Environment, folder = '.'): Config {
  const environment = readSecretFiles(variables, folder);
  const problems = findUnknownSettings(environment);
  const values = parseSettings(environment, folder, problems);
  const config = collectProblems(problems, () => ({
    ...buildConfig(environment, values),
    environment: { ...variables },
    secretFiles: listSecretFiles(variables, folder),
  }));
  if (config === null || problems.length > 0) throw new ConfigError(problems.join('\n'));
  return config;
}

/**
 * Adds the error of `build` to the problems and returns null, unless it follows from an invalid
 * setting.
 */
function collectProblems(problems: string[], build: () => Config): Config | null {
  try {
    return build();
  } catch (error) {
    if (error instanceof ConfigError) problems.push(error.message);
    else if (problems.length === 0) throw error;
    return null;
  }
}

function buildConfig(
  environment: Environment,
  values: SettingValues,
): Omit<Config, 'environment' | 'secretFiles'> {
  checkEngines(values);
  checkBackups(values);
  const workers = values.GLEANER_WORKERS ?? defaultWorkers();
  const browser =
    values.GLEANER_BROWSER ??
    findInstalledBrowser(values.GLEANER_DATA_DIR) ??
    findBrowser(environment.PATH ?? '');
  const found = { GLEANER_BROWSER: browser, GLEANER_WORKERS: `${workers}` };
  return {
    ...settingFields(values),
    effectiveSettings: listEffectiveSettings(environment, found),
    origins: readOrigins(values),
    browser,
    browserUrls: values.GLEANER_BROWSER_URL ?? [],
    workers,
    corsOrigins: values.GLEANER_CORS_ORIGINS ?? [],
    notices: readNotices(values),
    retention: {
      resultsMs: values.GLEANER_RETAIN_RESULTS_DAYS,
      jobsMs: values.GLEANER_RETAIN_JOBS_DAYS,
      ...recordRetention,
    },
    limits: readLimits(workers, environment.GLEANER_TEST_LIMITS),
    ...readTelemetry(environment),
  };
}

/** Throws a ConfigError for half of the distributed stack. */
function checkEngines({ MONGODB_URI, NATS_URL }: SettingValues): void {
  if ((MONGODB_URI === null) === (NATS_URL === null)) return;
  const missing = MONGODB_URI === null ? 'MONGODB_URI' : 'NATS_URL';
  throw new ConfigError(
    `MONGODB_URI and NATS_URL go together: ${missing} is missing. ` +
      'Set both for the distributed stack, or neither for the embedded one.',
  );
}

/** Throws a ConfigError for scheduled backups of the distributed stack. */
function checkBackups({ GLEANER_BACKUP_TO, MONGODB_URI }: SettingValues): void {
  if (GLEANER_BACKUP_TO === null || MONGODB_URI === null) return;
  throw new ConfigError('GLEANER_BACKUP_TO=…: back up MongoDB with its own tools, and unset this');
}

/**
 * Returns the origins. Throws ConfigError if requests are signed and sites could not find the keys.
 */
function readOrigins({ GLEANER_ORIGINS, GLEANER_PUBLIC_URL: url }: SettingValues): Origins {
  const origins: Origins = GLEANER_ORIGINS ?? new Map();
  for (const [market, { sign }] of origins) {
    if (sign && !url?.startsWith('https:'))
      throw new ConfigError(
        `GLEANER_ORIGINS: ${market}.sign needs a GLEANER_PUBLIC_URL ` +
          'with https, where sites find the public keys.',
      );
  }
  return origins;
}

/**
 * One worker process per core, less one: a busy worker also uses threads for files and garbage, and
 * its parent process, or an engine on the same machine, needs a core too.
 */
const defaultWorkers = () => Math.max(1, Math.min(64, availableParallelism() - 1));

function readNotices(values: SettingValues): NoticeSettings {
  const { GLEANER_OPERATOR_WEBHOOK_URL: url, GLEANER_OPERATOR_WEBHOOK_SECRET: secret } = values;
  goTogether({ GLEANER_OPERATOR_WEBHOOK_URL: url, GLEANER_OPERATOR_WEBHOOK_SECRET: secret });
  const { GLEANER_SMTP_URL: smtp, GLEANER_EMAIL_FROM: from, GLEANER_OPERATOR_EMAIL: to } = values;
  goTogether({ GLEANER_SMTP_URL: smtp, GLEANER_EMAIL_FROM: from, GLEANER_OPERATOR_EMAIL: to });
  return {
    operatorWebhook: url === null || secret === null ? null : { url, secret },
    email: smtp === null || from === null || to === null ? null : { smtp, from, to },
    privateWebhooks: values.GLEANER_PRIVATE,
  };
}

/**
 * Reads the standard variables of OpenTelemetry that decide whether metrics are pushed and traces
 * are exported.
 */
function readTelemetry(environment: Environment): Pick<Config, 'metricsPushMs' | 'exportsTraces'> {
  const read = (name: string) => environment[`OTEL_${name}`] || null;
  const protocol = read('EXPORTER_OTLP_PROTOCOL') ?? 'http/protobuf';
  if (protocol !== 'http/protobuf')
    throw new ConfigError(
      `OTEL_EXPORTER_OTLP_PROTOCOL=${protocol}: only http/protobuf is supported`,
    );
  const isDisabled = read('SDK_DISABLED') === 'true';
  const shared = read('EXPORTER_OTLP_ENDPOINT');
  const metrics = shared ?? read('EXPORTER_OTLP_METRICS_ENDPOINT');
  const traces = shared ?? read('EXPORTER_OTLP_TRACES_ENDPOINT');
  const metricsExporter = read('METRICS_EXPORTER') ?? 'otlp';
  const isPushed = metrics !== null && !isDisabled && metricsExporter === 'otlp';
  // The SDK's default endpoint is a collector on this host.
  const tracesExporter = read('TRACES_EXPORTER') ?? (traces === null ? 'none' : 'otlp');
  return {
    metricsPushMs: isPushed ? Number(read('METRIC_EXPORT_INTERVAL')) || 60_000 : null,
    exportsTraces: tracesExporter === 'otlp' && !isDisabled,
  };
}

function goTogether(values: Partial<Record<SettingName, unknown>>): void {
  const names = Object.keys(values) as SettingName[];
  const missing = names.filter((name) => values[name] === null);
  if (missing.length === 0 || missing.length === names.length) return;
  throw new ConfigError(`${names.join(', ')} go together: ${missing.join(', ')} is missing.`);
}

/** Environment variables of the command line as a client. Null: not set. */
export interface ClientEnvironment {
  url: string | null;
  apiKey: string | null;
  operatorKey: string | null;
  profile: string | null;
  /** Absolute path of the file with profiles, which may not exist. */
  configFile: string;
  /**
   * Address and keys in the `.env` file of the current folder, which may belong to someone else.
   */
  dotEnv: Pick<ClientEnvironment, 'url' | 'apiKey' | 'operatorKey'>;
}

/**
 * Reads the client settings of the command line; those of the `.env` file in `folder` apart,
 * because it may come from someone else. They are validated where they are used, because flags
 * override them. Throws ConfigError for a secret's file that cannot be read.
 */
export function clientEnvironment(
  variables: Environment,
  { folder = '.', home = homedir() }: { folder?: string; home?: string } = {},
): ClientEnvironment {
  const environment = readSecretFiles(variables, folder);
  const settingsFolder = environment.XDG_CONFIG_HOME || join(home, '.config');
  const dotEnv = environment.GLEANER_DOTENV === 'off' ? null : readDotEnv(folder);
  const configFile = environment.GLEANER_CONFIG || join(settingsFolder, 'gleaner', 'config.json');
  return {
    ...addressOf(environment),
    dotEnv: addressOf(readSecretFiles(dotEnv?.values ?? {}, folder)),
    profile: environment.GLEANER_PROFILE || null,
    configFile: resolve(folder, configFile),
  };
}

function addressOf(environment: Environment): ClientEnvironment['dotEnv'] {
  return {
    url: environment.GLEANER_URL || null,
    apiKey: environment.GLEANER_API_KEY || null,
    operatorKey: environment.GLEANER_OPERATOR_KEY || null,
  };
}

/**
 * Returns the environment of a child process: `environment` is complete, so the child reads no
 * `.env` file.
 */
export function childEnvironment(
  environment: Environment,
  settings: Environment = {},
): Environment {
  return { ...environment, ...settings, GLEANER_DOTENV: 'off' };
}

/** Variables that a service for trials may use. The data folder is inside of the demo's folder. */
const harmless = [
  'PATH',
  'HOME',
  'TMPDIR',
  'LANG',
  'TZ',
  'USER',
  'NODE_COMPILE_CACHE',
  'NODE_EXTRA_CA_CERTS',
  'SSL_CERT_FILE',
  'GLEANER_BROWSER',
  'GLEANER_DATA_DIR',
  'GLEANER_WORKERS',
];

/**
 * Returns an environment of only the harmless variables of `variables` and of `settings`, for a
 * service for trials: it must never reach the data, the engines, or the receivers of a real one.
 * `variables` has nothing of a `.env` file.
 */
export function isolatedEnvironment(
  variables: Environment,
  settings: Environment = {},
): Environment {
  const allowed: Environment = {};
  for (const name of harmless) {
    if (variables[name] !== undefined) allowed[name] = variables[name];
  }
  return childEnvironment(allowed, settings);
}
