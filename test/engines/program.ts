import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';

/** A server program running as a child process. */
export interface RunningProgram {
  readonly pid: number;
  /** Sends SIGTERM and waits for the end. */
  stop(): Promise<void>;
  /** Sends SIGKILL and waits for the end. */
  kill(): Promise<void>;
  /** Sends SIGSTOP: the program keeps its memory and connections but does not run. */
  freeze(): void;
  /** Sends SIGCONT. */
  resume(): void;
  running(): boolean;
}

/**
 * Shell command that runs a program under a guard. An inner shell prints its process id and becomes
 * the program. The outer shell waits for the end of its input, which comes however this process
 * ends, and then kills the program, so that no process is orphaned.
 */
const guard =
  'sh -c \'echo "$$"; exec "$@"\' sh "$@" </dev/null 2>&1 & exec >/dev/null 2>&1; cat; kill -9 $!; wait';

/**
 * Starts a program and resolves with the first value other than null that `ready` returns for a
 * line of its output (both streams). Rejects with the last 20 lines if the program ends before.
 */
export async function startProgram<T>(
  program: string,
  parameters: string[],
  ready: (line: string) => T | null,
  environment: Record<string, string> = {},
): Promise<RunningProgram & { readyValue: T }> {
  const shell = spawn('sh', ['-c', guard, 'sh', program, ...parameters], {
    stdio: ['pipe', 'pipe', 'inherit'],
    env: { ...process.env, ...environment },
  });
  const closed = once(shell, 'close');
  // Only the program holds the output open, so the output ends with the program.
  const ended = once(shell.stdout, 'close').then(async () => {
    shell.stdin.end();
    await closed;
  });
  let pid = 0;
  const last: string[] = [];
  const readyValue = await new Promise<T>((resolve, reject) => {
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
  const running = () => shell.exitCode === null && shell.signalCode === null;
  const send = (signal: NodeJS.Signals) => {
    // The process id cannot be reused before the shell has ended.
    if (running()) process.kill(pid, signal);
  };
  const end = async (signal: NodeJS.Signals) => {
    send(signal);
    await ended;
  };
  return {
    pid,
    readyValue,
    stop: () => end('SIGTERM'),
    kill: () => end('SIGKILL'),
    freeze: () => send('SIGSTOP'),
    resume: () => send('SIGCONT'),
    running,
  };
}
