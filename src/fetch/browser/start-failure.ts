import { spawn } from 'node:child_process';

const startMs = 10_000;

/** Maximum length of the error output that is read. */
const maxOutput = 256 * 1024;

/** Prefix of a line in the browser's log: process, time, and source. */
const prefix = /^\[[^\]]*\]\s*/;

function reasonIn(stderr: string): string | null {
  if (stderr.includes('No usable sandbox')) {
    return (
      'its sandbox needs user namespaces, which this machine or container does not allow ' +
      'for this user; allow them, or run workers where they are allowed'
    );
  }
  const lines = stderr.split('\n').filter((line) => line.trim() !== '' && !line.includes('dbus'));
  return lines.at(-1)?.trim().replace(prefix, '').slice(0, 300) ?? null;
}

/** Ends all processes of a group. */
export function killGroup(leader: number): void {
  try {
    process.kill(-leader, 'SIGKILL');
  } catch {
    // The whole group has ended.
  }
}

/**
 * Returns the reason why a browser does not start, by starting it again and reading its error
 * output. Returns null if it starts or prints nothing. The processes of this start end with it.
 */
export function diagnoseStartFailure(
  path: string,
  flags: readonly string[],
  profile: string,
  env: NodeJS.ProcessEnv,
): Promise<string | null> {
  const parameters = [
    '--headless',
    `--user-data-dir=${profile}`,
    ...flags,
    '--dump-dom',
    'about:blank',
  ];
  // A separate process group, because a browser's child processes outlive it.
  const child = spawn(path, parameters, {
    env,
    detached: true,
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  const { promise, resolve } = Promise.withResolvers<string | null>();
  let stderr = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    stderr = (stderr + text).slice(-maxOutput);
  });
  const endGroup = () => {
    if (child.pid !== undefined) killGroup(child.pid);
  };
  const timer = setTimeout(endGroup, startMs);
  child.once('error', () => resolve(null));
  child.once('exit', endGroup);
  child.once('close', (code) => resolve(code === 0 ? null : reasonIn(stderr)));
  return promise.finally(() => clearTimeout(timer));
}
