import { randomBytes } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { RunningOrigins } from '../../../sandbox/server.ts';
import { loadConfig } from '../../../src/base/config.ts';
import { type Audit, runAudit } from '../../../src/tools/store-commands.ts';
import type { Engines, Stack } from '../engines/engines.ts';
import { freePort } from '../servers/ports.ts';
import { runCommand } from './command.ts';
import {
  createServiceInProcess,
  createServiceProcess,
  grpcUrl,
  httpUrl,
  type ServiceProcess,
} from './service.ts';

/** Options for createDeployment(). */
export interface DeploymentOptions {
  stack: Pick<Stack, 'distributed'>;
  engines: Engines;
  origins: Partial<RunningOrigins> & Pick<RunningOrigins, 'config'>;
  /** Overrides the default settings of test deployments. */
  settings?: Record<string, string>;
  /** Limits for requests to each origin. */
  originLimits?: { concurrency: number; requests_per_second: number };
  /** Processes on the distributed stack. */
  layout?: Layout;
  /**
   * True if the services run in the process of the test (default), in a fraction of the time;
   * without worker processes unless `settings` say otherwise. Only processes can be killed, frozen,
   * and waited for.
   */
  inProcess?: boolean;
  /** Main module of service processes, if it is not the command line. */
  program?: string | undefined;
}

/** Numbers of processes by role. The gateways are in front of the first api process. */
export interface Layout {
  apis: number;
  workers: number;
  gateways: number;
}

/**
 * A running service: one process on the embedded stack, by default an api process and two workers
 * on the other.
 */
export interface Deployment {
  settings: Record<string, string>;
  /** URL of REST, signed files, and Connect. */
  url: string;
  /** URLs of REST of every api and gateway process. */
  urls: readonly string[];
  /** URL of gRPC and Connect. */
  grpc: string;
  operatorKey: string;
  /** The first process that serves requests. */
  api: ServiceProcess;
  /** The processes that run jobs; on the embedded stack `[api]`. */
  workers: readonly ServiceProcess[];
  processes: readonly ServiceProcess[];
  start(): Promise<void>;
  /** Restarts every process with changed settings. */
  restart(changes: Record<string, string>): Promise<void>;
  /** Returns the last 25 log lines of each process, except access log lines. */
  recentLog(): string;
  /** Writes the complete log of each process to a new folder, and returns its path. */
  saveLogs(): Promise<string>;
  /**
   * Runs `gleaner audit`, or its function if the services run in the process of the test, which
   * verifies that balances, ledger, and jobs agree.
   */
  audit(): Promise<AuditResult>;
  /** Stops the processes gracefully, removes their data, and returns their exit codes. */
  stop(): Promise<(number | null)[]>;
}

const defaultLayout: Layout = { apis: 1, workers: 2, gateways: 0 };
const defaultOriginLimits = { concurrency: 16, requests_per_second: 5_000 };

/** Prepares a deployment. No process runs before `start()`. */
export async function createDeployment(options: DeploymentOptions): Promise<Deployment> {
  const { engines, origins, originLimits = defaultOriginLimits, inProcess = true } = options;
  const folder = await mkdtemp(join(tmpdir(), 'gleaner-'));
  const originsFile = join(folder, 'origins.json');
  await writeFile(originsFile, JSON.stringify(withLimits(origins.config, originLimits)));
  const operatorKey = `operator-${randomBytes(12).toString('hex')}`;
  const settings: Record<string, string> = {
    GLEANER_DATA_DIR: join(folder, 'data'),
    GLEANER_HTTP_PORT: String(await freePort()),
    GLEANER_GRPC_PORT: String(await freePort()),
    GLEANER_OPS_PORT: 'off',
    GLEANER_HOST: '127.0.0.1',
    GLEANER_ORIGINS: originsFile,
    GLEANER_OPERATOR_KEY: operatorKey,
    // The pictures of fake marketplaces do not exist.
    GLEANER_IMAGES: 'off',
    GLEANER_WORKING_HOURS: 'off',
    // One process per worker: the suites that need more say so.
    GLEANER_WORKERS: inProcess ? '0' : '1',
    ...engines.settings,
    ...options.settings,
  };
  const { apis, workers, gateways } = await createProcesses({ ...options, inProcess }, settings);
  const [api] = apis;
  const processes = [...new Set([...apis, ...gateways, ...workers].map(({ service }) => service))];
  const deployment: Deployment = {
    settings,
    url: httpUrl(settings),
    urls: [...apis, ...gateways].map(({ environment }) => httpUrl(environment)),
    grpc: grpcUrl(settings),
    operatorKey,
    api: api!.service,
    workers: workers.map(({ service }) => service),
    processes,
    start: async () => {
      await Promise.all(processes.map((process) => process.start()));
    },
    restart: async (changes) => {
      Object.assign(settings, changes);
      await Promise.all(
        processes.map((process) => process.stop().then(() => process.start(changes))),
      );
    },
    recentLog: () =>
      processes
        .map((process) => {
          const lines = process
            .log()
            .split('\n')
            .filter((line) => !line.includes('"msg":"request"'));
          return `${process.role} ${process.pid()}${process.running() ? '' : ', ended'}:\n${lines.slice(-25).join('\n')}`;
        })
        .join('\n\n'),
    saveLogs: async () => {
      const logs = await mkdtemp(join(process.env.KEPT_DIR ?? tmpdir(), 'gleaner-logs-'));
      for (const [index, { role, log }] of processes.entries())
        await writeFile(join(logs, `${index}-${role}.log`), log());
      return logs;
    },
    audit: () => (inProcess ? auditInProcess(settings) : auditByCommand(settings)),
    stop: async () => {
      const codes = await Promise.all(processes.map((process) => process.stop()));
      await rm(folder, { recursive: true, force: true });
      return codes;
    },
  };
  return deployment;
}

/** Result of an audit; `code` is the exit code of `gleaner audit`. */
type AuditResult = Pick<Audit, 'problems' | 'accounts' | 'jobs'> & { code: number };

async function auditInProcess(settings: Record<string, string>): Promise<AuditResult> {
  const result = await runAudit(loadConfig(settings));
  return { code: result.problems.length === 0 ? 0 : 1, ...result };
}

async function auditByCommand(settings: Record<string, string>): Promise<AuditResult> {
  const { code, stdout, stderr } = await runCommand(['audit', '--json'], settings);
  if (stdout === '') throw new Error(`the audit printed nothing: ${stderr}`);
  return { code, ...(JSON.parse(stdout) as Audit) };
}

interface PreparedProcess {
  service: ServiceProcess;
  environment: Record<string, string>;
}

/**
 * Prepares the processes of a deployment. The first one uses the ports in the settings, the others
 * free ones.
 */
async function createProcesses(
  { stack: { distributed }, layout = defaultLayout, inProcess, program }: DeploymentOptions,
  settings: Record<string, string>,
): Promise<Record<keyof Layout, PreparedProcess[]>> {
  const create = inProcess ? createServiceInProcess : createServiceProcess;
  const prepare = (role: ServiceProcess['role'], environment = settings): PreparedProcess => ({
    service: create({ role, environment, ...(program === undefined ? {} : { program }) }),
    environment,
  });
  if (!distributed) {
    const only = prepare('serve');
    return { apis: [only], workers: [only], gateways: [] };
  }
  const serving = async (role: 'api' | 'gateway') => {
    const ports = {
      GLEANER_HTTP_PORT: String(await freePort()),
      GLEANER_GRPC_PORT: String(await freePort()),
    };
    return prepare(role, { ...settings, ...ports, GLEANER_CORE_URL: grpcUrl(settings) });
  };
  const repeat = <T>(count: number, create: () => T) => Array.from({ length: count }, create);
  return {
    apis: [prepare('api'), ...(await Promise.all(repeat(layout.apis - 1, () => serving('api'))))],
    workers: repeat(layout.workers, () => prepare('worker')),
    gateways: await Promise.all(repeat(layout.gateways, () => serving('gateway'))),
  };
}

function withLimits(config: RunningOrigins['config'], originLimits: object): object {
  return Object.fromEntries(
    Object.entries(config).map(([market, origin]) => [market, { ...origin, ...originLimits }]),
  );
}
