import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { setPriority } from 'node:os';
import { text } from 'node:stream/consumers';
import { childEnvironment } from '../base/config.ts';
import type { Environment } from '../base/secret-files.ts';
import { programs } from './programs.ts';

/** Options for runProgram(). */
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
 * Runs a command of this program in a process of low priority, since it would block the calls of this
 * process. Resolves with its output, whatever its exit code. Rejects with the signal's reason if aborted.
 */
export async function runProgram(
  args: readonly string[],
  { priority, memoryBytes, environment, signal }: RunProgramOptions,
): Promise<{ stdout: string; stderr: string; code: number | null }> {
  signal.throwIfAborted();
  const heap =
    memoryBytes === undefined ? [] : [`--max-old-space-size=${Math.round(memoryBytes / 1024 ** 2)}`];
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
