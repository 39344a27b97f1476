import { randomBytes } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { RunningOrigins } from '../../sandbox/server.ts';
import { freePort } from '../engines/nats.ts';
import type { Engines, Stack } from './engines.ts';
import { createService, grpcUrl, httpUrl, runCommand, type Service } from './service.ts';

/** What a deployment is put together from. */
export interface DeploymentOptions {
  stack: Pick<Stack, 'distributed'>;
  engines: Engines;
  origins: RunningOrigins;
  /** Over what every deployment of a test is told. */
  settings?: Record<string, string>;
  /** How much each origin bears. */
  gentleness?: { concurrency: number; requests_per_second: number };
}

/** Real processes of the program that work together: one on the embedded stack, else one api and two workers. */
export interface Deployment {
  settings: Record<string, string>;
  /** REST, signed files and Connect. */
  url: string;
  /** gRPC and Connect. */
  grpc: string;
  operatorKey: string;
  /** The process that answers. */
  api: Service;
  /** The processes that work; on the embedded stack the same one. */
  workers: readonly Service[];
  /** Every process. */
  processes: readonly Service[];
  start(): Promise<void>;
  /** Stops every process and starts it again with changed settings. */
  restart(changes: Record<string, string>): Promise<void>;
  /** The last things that each process said, requests left out. */
  story(): string;
  /** Proves that balances, ledger and jobs agree, by the command line's exit code and words. */
  audit(): Promise<{ code: number; problems: string[]; accounts: number; jobs: number }>;
  /** Stops the processes, in their own way, and removes their data; gives their exit codes. */
  stop(): Promise<(number | null)[]>;
}

const bearing = { concurrency: 16, requests_per_second: 5_000 };

/** Prepares a deployment; nothing runs before `start`. */
export async function createDeployment(options: DeploymentOptions): Promise<Deployment> {
  const { stack, engines, origins, gentleness = bearing } = options;
  const folder = await mkdtemp(join(tmpdir(), 'gleaner-'));
  const originsFile = join(folder, 'origins.json');
  await writeFile(originsFile, JSON.stringify(gentle(origins.config, gentleness)));
  const operatorKey = `operator-${randomBytes(12).toString('hex')}`;
  const settings: Record<string, string> = {
    GLEANER_DATA_DIR: join(folder, 'data'),
    GLEANER_HTTP_PORT: String(await freePort()),
    GLEANER_GRPC_PORT: String(await freePort()),
    GLEANER_HOST: '127.0.0.1',
    GLEANER_ORIGINS: originsFile,
    GLEANER_OPERATOR_KEY: operatorKey,
    GLEANER_WORKING_HOURS: 'off',
    ...engines.settings,
    ...options.settings,
  };
  const make = (role: Service['role']) => createService({ role, environment: settings });
  const api = make(stack.distributed ? 'api' : 'serve');
  const workers = stack.distributed ? [make('worker'), make('worker')] : [api];
  const processes = [...new Set([api, ...workers])];
  const deployment: Deployment = {
    settings,
    url: httpUrl(settings),
    grpc: grpcUrl(settings),
    operatorKey,
    api,
    workers,
    processes,
    start: async () => {
      await Promise.all(processes.map((process) => process.start()));
    },
    restart: async (changes) => {
      Object.assign(settings, changes);
      await Promise.all(processes.map((process) => process.stop().then(() => process.start(changes))));
    },
    story: () =>
      processes
        .map((process) => {
          const lines = process
            .log()
            .split('\n')
            .filter((line) => !line.includes('"msg":"request"'));
          return `${process.role} ${process.pid()}${process.running() ? '' : ', ended'}:\n${lines.slice(-25).join('\n')}`;
        })
        .join('\n\n'),
    audit: async () => {
      const { code, stdout, stderr } = await runCommand(['audit', '--json'], settings);
      if (stdout === '') throw new Error(`the audit said nothing: ${stderr}`);
      return { code, ...(JSON.parse(stdout) as { problems: string[]; accounts: number; jobs: number }) };
    },
    stop: async () => {
      const codes = await Promise.all(processes.map((process) => process.stop()));
      await rm(folder, { recursive: true, force: true });
      return codes;
    },
  };
  return deployment;
}

function gentle(config: RunningOrigins['config'], gentleness: object): object {
  return Object.fromEntries(
    Object.entries(config).map(([market, origin]) => [market, { ...origin, ...gentleness }]),
  );
}
