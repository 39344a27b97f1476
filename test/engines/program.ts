import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';

/** A server program that runs as a child. */
export interface RunningProgram {
  readonly pid: number;
  /** Lets it end in its own way and waits for that. */
  stop(): Promise<void>;
  /** Ends it at once (SIGKILL) and waits for that. */
  kill(): Promise<void>;
}

/**
 * A shell says its process id, which becomes the program's. Another one waits for the end of its own
 * input, which comes when this process is gone, whatever ended it, and then ends the program too:
 * nothing is left behind.
 */
const guard =
  'sh -c \'echo "$$"; exec "$@"\' sh "$@" </dev/null 2>&1 & exec >/dev/null 2>&1; cat; kill -9 $!; wait';

/**
 * Starts a program and resolves once `ready` finds what it waits for in a line of its output (both
 * streams); rejects with the last lines when the program ends before.
 */
export async function startProgram<T>(
  program: string,
  parameters: string[],
  ready: (line: string) => T | null,
  environment: Record<string, string> = {},
): Promise<RunningProgram & { said: T }> {
  const shell = spawn('sh', ['-c', guard, 'sh', program, ...parameters], {
    stdio: ['pipe', 'pipe', 'inherit'],
    env: { ...process.env, ...environment },
  });
  const gone = once(shell, 'close');
  // The program alone holds the output open, so its end is the program's.
  const ended = once(shell.stdout, 'close').then(async () => {
    shell.stdin.end();
    await gone;
  });
  let pid = 0;
  const last: string[] = [];
  const said = await new Promise<T>((resolve, reject) => {
    void ended.then(() => reject(new Error(`${program} ended: ${last.join('\n')}`)));
    createInterface(shell.stdout).on('line', (line) => {
      if (pid === 0) {
        pid = Number(line);
        return;
      }
      last.push(line);
      if (last.length > 20) last.shift();
      const found = ready(line);
      if (found !== null) resolve(found);
    });
  });
  const end = async (signal: NodeJS.Signals) => {
    // The shell keeps the id taken until it has gone itself.
    if (shell.exitCode === null && shell.signalCode === null) process.kill(pid, signal);
    await ended;
  };
  return { pid, said, stop: () => end('SIGTERM'), kill: () => end('SIGKILL') };
}
