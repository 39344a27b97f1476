import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { setPriority } from 'node:os';
import { extname } from 'node:path';
import type { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { childEnvironment } from '../base/config.ts';
import type { Environment } from '../base/secret-files.ts';

/**
 * The compiled program is one folder of bundles (deploy/build.mjs); a checkout runs its sources.
 */
const isCompiled = extname(import.meta.url) === '.js';

const pathOf = (compiled: string, source: string) =>
  fileURLToPath(new URL(isCompiled ? compiled : source, import.meta.url));

/** Entry modules of the processes. */
export const programs = {
  /** Command line. */
  main: pathOf('./main.js', '../cli/main.ts'),
  pageWorker: pathOf('./page-worker.js', './page-worker.ts'),
  /** Thread that watches the main thread of a page worker. */
  stallThread: pathOf('./stall-thread.js', './stall-thread.ts'),
  /** Fake marketplaces. */
  sandbox: pathOf('./sandbox.js', '../../sandbox/main.ts'),
};

interface RunProgramOptions {
  /** Priority (`nice`), from 0 to 19; 19 is the lowest. */
  priority: number;
  /** Heap limit, in bytes; Node's default if absent. */
  memoryBytes?: number;
  /** Complete environment of the process, usually the configuration's. */
  environment: Environment;
  /** Kills the process. */
  signal: AbortSignal;
}

/**
 * Runs a command of this program in a process of low priority, since it would block the calls of
 * this process. Resolves with its output, whatever its exit code. Rejects with the signal's reason
 * if aborted.
 */
export async function runProgram(
  args: readonly string[],
  { priority, memoryBytes, environment, signal }: RunProgramOptions,
): Promise<{ stdout: string; stderr: string; code: number | null }> {
  signal.throwIfAborted();
  const heap =
    memoryBytes === undefined
      ? []
      : [`--max-old-space-size=${Math.round(memoryBytes / 1024 ** 2)}`];
  const child = spawn(process.execPath, [...process.execArgv, ...heap, programs.main, ...args], {
    env: childEnvironment(environment),
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const kill = () => child.kill('SIGKILL');
  signal.addEventListener('abort', kill, { once: true });
  try {
    const ended = Promise.all([text(child.stdout), text(child.stderr), once(child, 'exit')]);
    if (child.pid !== undefined) lowerPriority(child.pid, priority);
    const [stdout, stderr, [code]] = await ended;
    signal.throwIfAborted();
    return { stdout, stderr, code: code as number | null };
  } finally {
    signal.removeEventListener('abort', kill);
  }
}

function lowerPriority(pid: number, priority: number): void {
  try {
    setPriority(pid, priority);
  } catch {
    // The process has ended already.
  }
}

/**
 * Returns the JSON that a child process prints as its first line, and closes the output, or null if
 * it prints none.
 */
export async function readFirstReport(output: Readable): Promise<unknown> {
  let text = '';
  for await (const chunk of output.setEncoding('utf8')) {
    text += chunk;
    if (text.includes('\n')) return JSON.parse(text);
  }
  return null;
}
