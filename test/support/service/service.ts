import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import type { ProcessRole } from '../../../src/app/roles.ts';
import { type Service, serve } from '../../../src/app/serve.ts';
import { loadConfig } from '../../../src/base/config.ts';
import { until, withTimeout } from '../time/until.ts';

/** Root folder of the project. */
export const root = fileURLToPath(new URL('../../..', import.meta.url));

/** Program of this checkout, as its sources. */
export const sources = join(root, 'src/cli/main.ts');

/**
 * Program that tests start: compiled by `npm test`, since that starts in half of the time, or the
 * sources.
 */
export const main = process.env.TEST_PROGRAM ?? sources;

/**
 * Folder of compiled modules, as deploy/launch.mjs sets it: processes start in three quarters of
 * the time.
 */
export const compileCache = join(root, 'node_modules', '.cache', 'compiled');
const startMs = 30_000;
const stopMs = 8_000;

/** Options for createServiceProcess(). */
export interface ServiceOptions {
  role: ProcessRole;
  /**
   * Environment variables. Of the test's own, only PATH, HOME, and TMPDIR are added, and the folder
   * of compiled modules.
   */
  environment: Record<string, string>;
  /** Program to run. Default: `main`. */
  program?: string;
}

/** A service on this thread that can be restarted with the same settings. */
export function createServiceInProcess({ role, environment }: ServiceOptions): ServiceProcess {
  let settings = environment;
  let service: Promise<Service> | null = null;
  let log = '';
  const append = (text: string) => {
    log += text;
  };
  const launch = (changes: Record<string, string> = {}) => {
    if (service) throw new Error(`the ${role} is already running`);
    settings = { ...settings, ...changes };
    service = serve(loadConfig(settings), role, {
      say: (line) => append(`${line}\n`),
      logOutput: { write: append },
    });
    // start() and stop() report the rejection.
    service.catch(() => {});
  };
  const spawnedOnly = (): never => {
    throw new Error(
      `the ${role} runs in the process of the test: create its deployment with \`inProcess: false\``,
    );
  };
  return {
    role,
    pid: () => process.pid,
    running: () => service !== null,
    log: () => log,
    launch,
    async start(changes) {
      launch(changes);
      try {
        await service;
        await until(`the ${role} is ready`, () => isReady(role, settings), {
          withinMs: startMs,
          everyMs: 10,
        });
      } catch (error) {
        await this.stop().catch(() => {});
        throw new Error(`${(error as Error).message}\n${log.slice(-4_000)}`, { cause: error });
      }
    },
    async stop() {
      const stopping = service;
      service = null;
      const stopped = stopping?.then((running) => running.stop());
      await withTimeout(
        `the ${role} stops\n${log.slice(-2_000)}`,
        stopMs,
        stopped ?? Promise.resolve(),
      );
      return stopping ? 0 : null;
    },
    kill: spawnedOnly,
    freeze: spawnedOnly,
    resume: spawnedOnly,
  };
}

/**
 * Returns true once the role's port is ready; roles without one are ready once they have started.
 */
async function isReady(role: ProcessRole, settings: Record<string, string>): Promise<true> {
  if (role === 'worker' || role === 'core') return true;
  const response = await fetch(`${httpUrl(settings)}/ready`);
  if (!response.ok) throw new Error(await response.text());
  return true;
}

/** A process of the service that can be restarted with the same settings. */
export interface ServiceProcess {
  readonly role: ProcessRole;
  /** Id of the current process, or of the last one if none runs; 0 before the first start. */
  pid(): number;
  running(): boolean;
  /** Returns the output of this process and its predecessors on both streams. */
  log(): string;
  /** Starts the process with changed settings, if any, and returns immediately. */
  launch(changes?: Record<string, string>): void;
  /** Starts the process and resolves once it is ready. */
  start(changes?: Record<string, string>): Promise<void>;
  /** Sends SIGTERM and resolves with the exit code. Rejects after 8 seconds. */
  stop(): Promise<number | null>;
  /** Sends SIGKILL. */
  kill(): Promise<void>;
  /** Sends SIGSTOP: the process keeps its memory and connections but does not run. */
  freeze(): void;
  /** Sends SIGCONT. */
  resume(): void;
}

/** Prepares a process of a role without starting it. The process ends with this one. */
export function createServiceProcess({
  role,
  environment,
  program = main,
}: ServiceOptions): ServiceProcess {
  let settings = environment;
  let child: ChildProcess | null = null;
  let exited: Promise<unknown> = Promise.resolve();
  let log = '';
  // Start of the current process's output.
  let readyFrom = 0;

  const running = () => child !== null && child.exitCode === null && child.signalCode === null;
  const launch = (changes: Record<string, string> = {}) => {
    if (running()) throw new Error(`the ${role} is already running`);
    settings = { ...settings, ...changes };
    readyFrom = log.length;
    // The IPC channel closes when this process exits, which ends the child.
    const stdio = ['ignore', 'pipe', 'pipe', 'ipc'] as const;
    const started = spawn(process.execPath, [program, role], {
      cwd: root,
      env: clean(settings),
      stdio: [...stdio],
    });
    const append = (text: string) => {
      log += text;
    };
    started.stdout?.setEncoding('utf8').on('data', append);
    started.stderr?.setEncoding('utf8').on('data', append);
    exited = once(started, 'exit');
    child = started;
  };

  const ready = async (): Promise<true | undefined> => {
    if (role === 'worker' || role === 'core')
      return log.includes('"msg":"started"', readyFrom) || undefined;
    return isReady(role, settings);
  };

  return {
    role,
    pid: () => child?.pid ?? 0,
    running,
    log: () => log,
    launch,
    async start(changes) {
      launch(changes);
      try {
        const check = () => (running() ? ready() : false);
        const isReady = await until(`the ${role} is ready`, check, { withinMs: startMs });
        if (!isReady) throw new Error(`the ${role} ended with code ${child?.exitCode}`);
      } catch (error) {
        child?.kill('SIGKILL');
        throw new Error(`${(error as Error).message}\n${log.slice(-4_000)}`, { cause: error });
      }
    },
    async stop() {
      if (child === null) return null;
      if (running()) child.kill('SIGTERM');
      await withTimeout(`the ${role} stops\n${log.slice(-2_000)}`, stopMs, exited).catch(
        async (error) => {
          child?.kill('SIGKILL');
          await exited;
          throw error;
        },
      );
      return child.exitCode;
    },
    async kill() {
      if (running()) child!.kill('SIGKILL');
      await exited;
    },
    freeze: () => void child?.kill('SIGSTOP'),
    resume: () => void child?.kill('SIGCONT'),
  };
}

/** Returns the URL of the HTTP port in the settings. */
export const httpUrl = (settings: Record<string, string>) =>
  `http://127.0.0.1:${settings.GLEANER_HTTP_PORT}`;

/** Returns the URL of the gRPC port in the settings. */
export const grpcUrl = (settings: Record<string, string>) =>
  `http://127.0.0.1:${settings.GLEANER_GRPC_PORT}`;

/** Result of a finished program. */
export interface CommandResult {
  code: number;
  stdout: string;
  stderr: string;
}

/**
 * Runs a program to completion in a folder, by default the root folder. Ends it after `withinMs`.
 */
export async function run(
  program: string,
  parameters: readonly string[],
  environment: Record<string, string> = {},
  cwd = root,
  withinMs = 60_000,
): Promise<CommandResult> {
  const options = { cwd, env: clean(environment), timeout: withinMs };
  try {
    return { code: 0, ...(await promisify(execFile)(program, parameters, options)) };
  } catch (error) {
    const { code, stdout = '', stderr = '' } = error as Error & Partial<CommandResult>;
    if (typeof code !== 'number')
      throw new Error(`not within ${withinMs} ms: ${stdout}${stderr}`.slice(-8_000), {
        cause: error,
      });
    return { code, stdout, stderr };
  }
}

function clean(settings: Record<string, string>): Record<string, string> {
  const { PATH = '', HOME = '', TMPDIR = tmpdir() } = process.env;
  return { PATH, HOME, TMPDIR, NODE_COMPILE_CACHE: compileCache, ...settings };
}
