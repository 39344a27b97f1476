import { accessSync, constants, existsSync, statSync } from 'node:fs';
import { createServer } from 'node:net';
import { dirname } from 'node:path';
import { describeListenError, type PortSetting } from '../app/ops-port.ts';
import { serviceAddress } from '../app/ports.ts';
import { checkStoredFiles } from '../backup/stored-files.ts';
import { withTimeout } from '../base/abort.ts';
import { systemClock } from '../base/clock.ts';
import type { Config } from '../base/config.ts';
import { type Diagnosis, error, ok, warning } from '../base/diagnosis.ts';
import { readFreeBytes } from '../base/disk-space.ts';
import { type DotEnv, readDotEnv } from '../base/dot-env.ts';
import { createLog } from '../base/log.ts';
import { browserUrlsOf } from '../base/origins.ts';
import { diagnoseSetup } from '../base/setup-checks.ts';
import { Fault } from '../contract/fault.ts';
import { parseSiteFiles } from '../markets/declared-sites/declared-sites.ts';
import { findUnknownRegions } from '../markets/hosts.ts';
import { markets } from '../markets/list.ts';
import { dataFolderRemedy, hasData } from '../stack/data-folder.ts';
import { requireInstallation } from '../stack/installation.ts';
import { openStack, type Stack } from '../stack/stack.ts';
import { checkOrigins, type OriginCheck } from './origins-check.ts';

/** Minimum Node version: it runs TypeScript without a warning. */
const minNode = [24, 12] as const;
/** Timeout for an engine, in milliseconds. */
const engineMs = 5_000;
/** Reported differences from the store's clock, and from sites, whose caches may send old dates. */
const maxSkewMs = { store: 1_000, site: 120_000 };

/**
 * Checks an installation: Node, browser, ports, disk, engines, clock, and, unless `offline`, one
 * page of each configured site. Creates no data. Returns failed checks instead of throwing.
 */
export async function* diagnose(
  config: Config,
  { offline }: { offline: boolean },
): AsyncGenerator<Diagnosis> {
  yield diagnoseNode(process.versions.node);
  yield diagnoseSettings(config, readDotEnv('.'));
  yield diagnoseBrowser(config);
  if (config.siteFiles !== null) yield diagnoseSites(config.siteFiles);
  yield await diagnosePort('HTTP port', config.host, config.httpPort, 'GLEANER_HTTP_PORT');
  yield await diagnosePort('gRPC port', config.host, config.grpcPort, 'GLEANER_GRPC_PORT');
  yield await diagnoseDisk(config);
  yield* diagnoseEngines(config);
  yield* diagnoseSetup(config);
  yield* diagnoseBackupFolder(config);
  yield* diagnoseOrigins(config, offline);
}

/** Checks the version of Node, such as "24.21.0". */
export function diagnoseNode(version: string): Diagnosis {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  const isSupported = major > minNode[0] || (major === minNode[0] && minor >= minNode[1]);
  return isSupported
    ? ok('Node', version)
    : error(
        'Node',
        `${version} is too old`,
        `Install Node ${minNode.join('.')} or later, or start Gleaner with npm.`,
      );
}

/** Checks who can read the files that settings come from. */
export function diagnoseSettings(
  { secretFiles }: Pick<Config, 'secretFiles'>,
  dotEnv: DotEnv | null,
): Diagnosis {
  const sources = secretFiles.map(({ name, path }) => `${name} in ${path}`);
  const files = secretFiles.map(({ path }) => path);
  if (dotEnv !== null) {
    sources.unshift(describeDotEnv(dotEnv));
    files.unshift(dotEnv.path);
  }
  const readable = files.filter((path) => (statSync(path).mode & 0o004) !== 0);
  if (readable.length > 0)
    return warning(
      'settings',
      `every user of this host can read ${readable.join(', ')}`,
      `Run chmod o= ${readable.join(' ')}`,
    );
  return ok(
    'settings',
    sources.length === 0 ? 'from the environment' : `from files: ${sources.join('; ')}`,
  );
}

function describeDotEnv({ path, values, ignored }: DotEnv): string {
  const notLoaded = ignored.length === 0 ? '' : ` (not loaded: ${ignored.join(', ')})`;
  return `${Object.keys(values).length} in ${path}${notLoaded}`;
}

/** Checks that there is a browser if the origins file needs one. */
export function diagnoseBrowser(
  config: Pick<Config, 'browser' | 'browserUrls' | 'origins'>,
): Diagnosis {
  const { browser, browserUrls, origins } = config;
  if (browserUrls.length > 0)
    return ok('browser', browserUrls.map((url) => `at ${new URL(url).origin}`).join(', '));
  if (browser !== null) return ok('browser', browser);
  const markets = [...origins]
    .filter(
      ([market, { fetch }]) => fetch === 'browser' && browserUrlsOf(config, market).length === 0,
    )
    .map(([market]) => market);
  if (markets.length === 0) return ok('browser', 'none found, and no market needs one');
  const need = markets.length === 1 ? 'needs' : 'need';
  return error(
    'browser',
    `none found, but ${markets.join(', ')} ${need} one`,
    'Run `gleaner browser install`, set GLEANER_BROWSER to the path ' +
      'of a browser, or GLEANER_BROWSER_URL to the address of one.',
  );
}

/** Checks the declarations of shops. */
function diagnoseSites(siteFiles: NonNullable<Config['siteFiles']>): Diagnosis {
  try {
    return ok('declared sites', [...parseSiteFiles(siteFiles).keys()].join(', '));
  } catch (thrown) {
    const { message } = thrown as Error;
    return error(
      'declared sites',
      message,
      'Correct the file, and check it with `gleaner site check`.',
    );
  }
}

/** Checks that a port is free, or that Gleaner listens on it. */
async function diagnosePort(
  name: string,
  host: string,
  port: number,
  setting: PortSetting,
): Promise<Diagnosis> {
  if (port === 0) return ok(name, 'any free port');
  const server = createServer();
  const code = await new Promise<string | null>((resolve) => {
    server.once('error', (thrown: NodeJS.ErrnoException) => resolve(thrown.code ?? thrown.message));
    server.listen(port, host, () => resolve(null));
  });
  server.close();
  if (code === null) return ok(name, `${port} is free`);
  if (code === 'EADDRINUSE' && (await isGleaner(host, port)))
    return ok(name, `${port} is that of the running service`);
  const { message, remedy } = describeListenError(code, host, port, setting);
  if (code === 'EADDRINUSE') return warning(name, message, remedy);
  return error(name, message, remedy);
}

/** Requests that the ports of the service respond to without a key, each with the response. */
const probes = [
  { path: '/health', init: {}, body: '{"status":"ok"}' },
  {
    path: '/grpc.health.v1.Health/Check',
    init: { method: 'POST', body: '{}', headers: { 'content-type': 'application/json' } },
    body: '{"status":"SERVING"}',
  },
];
/** Timeout for the response of a port, in milliseconds. */
const probeMs = 2_000;

/** Returns true if a port of this machine responds as the REST API or the gRPC port do. */
async function isGleaner(host: string, port: number): Promise<boolean> {
  const address = serviceAddress(host, port);
  const responds = probes.map(async ({ path, init, body }) => {
    const response = await fetch(`${address}${path}`, {
      ...init,
      signal: AbortSignal.timeout(probeMs),
    });
    return response.headers.has('x-request-id') && (await response.text()) === body;
  });
  const results = await Promise.allSettled(responds);
  return results.some((result) => result.status === 'fulfilled' && result.value);
}

/** Checks that scheduled backups can be written, if they go to a folder. */
function* diagnoseBackupFolder({ backupTo, mongoUri }: Config): Generator<Diagnosis> {
  if (backupTo === null || mongoUri !== null || /^https?:/.test(backupTo)) return;
  try {
    writableParent(backupTo);
  } catch (thrown) {
    yield error(
      'backup folder',
      `${backupTo} cannot be written: ${(thrown as Error).message}`,
      'Set GLEANER_BACKUP_TO to a folder that this user can write.',
    );
  }
}

/** Checks that the data folder is writable and has enough space. */
async function diagnoseDisk({ dataDir, limits }: Config): Promise<Diagnosis> {
  try {
    const folder = writableParent(dataDir);
    const freeBytes = await readFreeBytes(folder);
    const free = `${Math.floor(freeBytes / 1024 ** 2).toLocaleString('en-US')} MiB free`;
    return freeBytes < limits.minFreeDiskBytes
      ? error(
          'disk',
          `${dataDir}: only ${free}`,
          'Free some space: no work is accepted below 512 MiB.',
        )
      : ok('disk', `${dataDir}: ${free}`);
  } catch (thrown) {
    return error(
      'disk',
      `${dataDir} cannot be written: ${(thrown as Error).message}`,
      dataFolderRemedy,
    );
  }
}

/** Returns the part of a path that exists. Throws an error if no folder can be created in it. */
function writableParent(folder: string): string {
  const parent = existingParent(folder);
  accessSync(parent, constants.W_OK | constants.X_OK);
  return parent;
}

function existingParent(folder: string): string {
  return existsSync(folder) || dirname(folder) === folder
    ? folder
    : existingParent(dirname(folder));
}

/** Compares the result files with their records. */
async function diagnoseFiles({ store, blobs }: Pick<Stack, 'store' | 'blobs'>): Promise<Diagnosis> {
  try {
    const { files, read, damaged, damagedCount } = await checkStoredFiles(store, blobs);
    if (damagedCount === 0)
      return ok('result files', `${files} as they were written (${read} compared by content)`);
    const remainder =
      damagedCount > damaged.length ? `, and ${damagedCount - damaged.length} more` : '';
    return error(
      'result files',
      `${damagedCount} of ${files} missing or changed: ${damaged.join(', ')}${remainder}`,
      'Restore them from a backup, or run their jobs again. ' +
        'Merged files are restored when they are read.',
    );
  } catch (thrown) {
    return warning(
      'result files',
      Fault.from(thrown).message,
      'Run the check again when the engines respond.',
    );
  }
}

/** Checks that the engines respond, and that the clock agrees with the store's. */
async function* diagnoseEngines(config: Config): AsyncGenerator<Diagnosis> {
  const refusal = await requireInstallation(config).then(
    () => null,
    (thrown: unknown) => Fault.from(thrown),
  );
  if (refusal !== null) {
    yield error('store', refusal.message, '');
    return;
  }
  if (!hasData(config)) {
    yield ok('store', `no data in ${config.dataDir} yet; the first start creates it`);
    return;
  }
  const settings = { store: 'MONGODB_URI', queue: 'NATS_URL', 'result storage': 'GLEANER_S3_URL' };
  const stack = await openStack(config, systemClock, createLog('silent', 'doctor')).catch(
    (thrown: unknown) => Fault.from(thrown),
  );
  if (stack instanceof Fault) {
    yield error(
      'store',
      stack.message,
      'Check MONGODB_URI, NATS_URL, GLEANER_S3_URL, and GLEANER_DATA_DIR.',
    );
    return;
  }
  try {
    const { store, queue, blobs } = stack;
    for (const [name, engine] of [
      ['store', store],
      ['queue', queue],
      ['result storage', blobs],
    ] as const) {
      const problem = await withTimeout<unknown>(engineMs, 'A response', engine.ping()).then(
        () => null,
        (thrown: unknown) => Fault.from(thrown).message,
      );
      yield problem === null
        ? ok(name, `${engine.engine} responds`)
        : error(name, problem, `Start the engine, or correct ${settings[name]}.`);
    }
    const before = Date.now();
    const time = await store.ping().catch(() => null);
    if (time !== null)
      yield diagnoseClock((before + Date.now()) / 2 - time, maxSkewMs.store, 'the store');
    yield await diagnoseFiles(stack);
  } finally {
    await stack.close().catch(() => {});
  }
}

/** Compares the clock of this host with another one. */
export function diagnoseClock(skewMs: number, maxMs: number, other: string): Diagnosis {
  const seconds = (skewMs / 1000).toFixed(1);
  return Math.abs(skewMs) <= maxMs
    ? ok('clock', `agrees with ${other}`)
    : warning(
        'clock',
        `${seconds} s from the clock of ${other}`,
        'Synchronize the clock of this machine with NTP.',
      );
}

async function* diagnoseOrigins(config: Config, offline: boolean): AsyncGenerator<Diagnosis> {
  const unknown = findUnknownRegions(config.origins, markets);
  if (unknown.length > 0) {
    yield error('origins', unknown.join('; '), 'Correct the file that GLEANER_ORIGINS names.');
    return;
  }
  // The check of the settings reports that there are none.
  if (offline || config.origins.size === 0) return;
  const skews: number[] = [];
  for await (const check of checkOrigins(config, { note: () => {} })) {
    if (check.clockSkewMs !== null) skews.push(-check.clockSkewMs);
    yield diagnoseOrigin(check);
  }
  // The site with the smallest difference: caches send dates that are too old.
  const skew = skews.sort((one, other) => Math.abs(one) - Math.abs(other))[0];
  if (skew !== undefined) yield diagnoseClock(skew, maxSkewMs.site, 'the sites');
}

function diagnoseOrigin({
  market,
  result,
  status,
  fields,
  message,
  remedy,
}: OriginCheck): Diagnosis {
  if (result === 'ok')
    return ok(market, `status ${status}, ${fields.read} of ${fields.listed} fields read`);
  return warning(market, result === 'skipped' ? message : `${result}: ${message}`, remedy);
}
