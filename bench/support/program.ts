import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, openSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** A benchmark program running in its own process. */
export interface BenchProgram {
  readonly pid: number;
  /** Sends a message and returns the reply. */
  ask<T>(message: unknown): Promise<T>;
  /** Stops the program and waits for its end. */
  stop(): Promise<void>;
}

const project = fileURLToPath(new URL('../..', import.meta.url));

/**
 * Starts a program of the bench folder and returns it with the first message that it sends. If it
 * ends before, the error contains its standard error output.
 */
export async function startBenchProgram<T>(
  name: string,
  ...parameters: string[]
): Promise<BenchProgram & { firstMessage: T }> {
  const logFile = join(mkdtempSync(join(tmpdir(), 'gleaner-bench-')), `${name}.log`);
  const child = spawn(process.execPath, [`${project}/bench/${name}`, ...parameters], {
    stdio: ['ignore', 'inherit', openSync(logFile, 'a'), 'ipc'],
  });
  try {
    const firstMessage = await responseOf<T>(child, name);
    return {
      pid: child.pid!,
      firstMessage,
      ask: (message) => {
        const response = responseOf<never>(child, name);
        child.send(message as object);
        return response;
      },
      stop: async () => {
        await end(child);
        rmSync(dirname(logFile), { recursive: true, force: true });
      },
    };
  } catch (error) {
    throw new Error(`${(error as Error).message}:\n${readFileSync(logFile, 'utf8').slice(-2_000)}`);
  }
}

/** Compiles Gleaner into dist, as the package is. */
export function buildGleaner(): void {
  execFileSync(process.execPath, ['deploy/build.mjs'], { cwd: project });
}

/**
 * Starts a role of the compiled Gleaner (see buildGleaner()). Resolves once `ready` returns a value
 * for what the process has written to standard output so far.
 */
export async function startGleaner<T>(
  role: string,
  environment: Record<string, string>,
  logFile: string,
  nodeOptions: readonly string[],
  ready: (output: string) => T | undefined,
): Promise<BenchProgram & { firstMessage: T }> {
  const cache = { NODE_COMPILE_CACHE: `${project}/node_modules/.cache/compiled` };
  const child = spawn(process.execPath, [...nodeOptions, `${project}/dist/main.js`, role], {
    stdio: ['ignore', 'pipe', openSync(logFile, 'a')],
    env: { ...process.env, ...cache, ...environment },
  });
  let output = '';
  const firstMessage = await new Promise<T>((resolve, reject) => {
    child.once('exit', () => reject(new Error(`gleaner ${role} ended:\n${output}see ${logFile}`)));
    child.stdout!.setEncoding('utf8').on('data', (text: string) => {
      output += text;
      const found = ready(output);
      if (found !== undefined) resolve(found);
    });
  });
  return {
    pid: child.pid!,
    firstMessage,
    ask: () => Promise.reject(new Error('gleaner answers over its ports only')),
    stop: () => end(child),
  };
}

async function responseOf<T>(child: ChildProcess, name: string): Promise<T> {
  const gone = new AbortController();
  const ended = once(child, 'exit', { signal: gone.signal }).then(() => {
    throw new Error(`${name} ended before it answered`);
  });
  ended.catch(() => {});
  try {
    const [message] = await Promise.race([once(child, 'message', { signal: gone.signal }), ended]);
    return message as T;
  } finally {
    gone.abort();
  }
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const gone = once(child, 'exit');
  child.kill('SIGTERM');
  await gone;
}
