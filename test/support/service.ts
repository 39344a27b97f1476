import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import type { Role } from '../../src/app/serve.ts';
import { until, within } from './until.ts';

/** The project's folder. */
export const root = fileURLToPath(new URL('../..', import.meta.url));

const main = join(root, 'src/cli/main.ts');
const startMs = 30_000;
const stopMs = 8_000;

/** How a process of the program is started. */
export interface ServiceOptions {
  role: Role;
  /** Its settings; nothing of the test's own environment but PATH and HOME is added. */
  environment: Record<string, string>;
}

/** One process of the program, that can be ended and started again with the same settings. */
export interface Service {
  readonly role: Role;
  /** Process id of the one that runs. */
  pid(): number;
  running(): boolean;
  /** What it and its predecessors wrote, on both streams. */
  log(): string;
  /** Starts it, with changed settings if so wished, and returns at once. */
  launch(changes?: Record<string, string>): void;
  /** Starts it and resolves once it says that it can work. */
  start(changes?: Record<string, string>): Promise<void>;
  /** SIGTERM; resolves with the exit code, rejects when that takes more than a few seconds. */
  stop(): Promise<number | null>;
  /** SIGKILL. */
  kill(): Promise<void>;
  /** SIGSTOP: the process keeps its memory and connections and does nothing. */
  freeze(): void;
  /** SIGCONT. */
  resume(): void;
}

/** A role of the program as a process of its own, not started yet. It ends with this process. */
export function createService({ role, environment }: ServiceOptions): Service {
  let settings = environment;
  let child: ChildProcess | null = null;
  let exited: Promise<unknown> = Promise.resolve();
  let log = '';

  const running = () => child !== null && child.exitCode === null && child.signalCode === null;
  const launch = (changes: Record<string, string> = {}) => {
    if (running()) throw new Error(`the ${role} runs already`);
    settings = { ...settings, ...changes };
    const before = log.length;
    // The channel tells the program when we are gone.
    const stdio = ['ignore', 'pipe', 'pipe', 'ipc'] as const;
    const started = spawn(process.execPath, [main, role], {
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
    begun = before;
  };
  let begun = 0;

  const ready = async (): Promise<true | undefined> => {
    if (role === 'worker' || role === 'core') return log.includes('"msg":"started"', begun) || undefined;
    const response = await fetch(`${httpUrl(settings)}/ready`);
    if (!response.ok) throw new Error(await response.text());
    return true;
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
        const look = () => (running() ? ready() : false);
        const well = await until(`the ${role} is ready`, look, { withinMs: startMs });
        if (!well) throw new Error(`the ${role} ended with code ${child?.exitCode}`);
      } catch (error) {
        child?.kill('SIGKILL');
        throw new Error(`${(error as Error).message}\n${log.slice(-4_000)}`, { cause: error });
      }
    },
    async stop() {
      if (child === null) return null;
      if (running()) child.kill('SIGTERM');
      await within(`the ${role} stops\n${log.slice(-2_000)}`, stopMs, exited).catch(async (error) => {
        child?.kill('SIGKILL');
        await exited;
        throw error;
      });
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

/** Where the HTTP port of these settings answers. */
export const httpUrl = (settings: Record<string, string>) => `http://127.0.0.1:${settings.GLEANER_HTTP_PORT}`;

/** Where the gRPC port of these settings answers. */
export const grpcUrl = (settings: Record<string, string>) => `http://127.0.0.1:${settings.GLEANER_GRPC_PORT}`;

/** What a finished command line came to. */
export interface CommandResult {
  code: number;
  stdout: string;
  stderr: string;
}

/** Runs the command line to its end: `runCommand(['audit', '--json'], environment)`. */
export async function runCommand(
  parameters: readonly string[],
  environment: Record<string, string>,
): Promise<CommandResult> {
  return run(process.execPath, [main, ...parameters], environment);
}

/** Runs any program to its end, in the project's folder. */
export async function run(
  program: string,
  parameters: readonly string[],
  environment: Record<string, string> = {},
): Promise<CommandResult> {
  const options = { cwd: root, env: clean(environment), timeout: 60_000 };
  try {
    return { code: 0, ...(await promisify(execFile)(program, parameters, options)) };
  } catch (error) {
    const { code, stdout = '', stderr = '' } = error as Error & Partial<CommandResult>;
    if (typeof code !== 'number') throw error;
    return { code, stdout, stderr };
  }
}

function clean(settings: Record<string, string>): Record<string, string> {
  const { PATH = '', HOME = '' } = process.env;
  return { PATH, HOME, ...settings };
}
