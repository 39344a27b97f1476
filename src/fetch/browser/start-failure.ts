import { execFile } from 'node:child_process';

const startMs = 10_000;

/** Prefix of a line in the browser's log: process, time, and source. */
const prefix = /^\[[^\]]*\]\s*/;

function reasonIn(stderr: string): string | null {
  if (stderr.includes('No usable sandbox')) {
    return (
      'its sandbox needs user namespaces, which this machine or container does not allow for this user; ' +
      'allow them, or run workers where they are allowed'
    );
  }
  const lines = stderr.split('\n').filter((line) => line.trim() !== '' && !line.includes('dbus'));
  return lines.at(-1)?.trim().replace(prefix, '').slice(0, 300) ?? null;
}

/**
 * Returns the reason why a browser does not start, by starting it again and reading its error output. Returns
 * null if it starts or prints nothing.
 */
export function diagnoseStartFailure(
  path: string,
  flags: readonly string[],
  profile: string,
  env: NodeJS.ProcessEnv,
): Promise<string | null> {
  const parameters = ['--headless', `--user-data-dir=${profile}`, ...flags, '--dump-dom', 'about:blank'];
  return new Promise((resolve) => {
    execFile(
      path,
      parameters,
      { env, timeout: startMs, killSignal: 'SIGKILL', maxBuffer: 256 * 1024 },
      (error, _stdout, stderr) => resolve(error === null ? null : reasonIn(stderr)),
    );
  });
}
