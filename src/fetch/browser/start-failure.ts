import { execFile } from 'node:child_process';

const startMs = 10_000;

/** What a browser writes before its words: process, time, place. */
const prefix = /^\[[^\]]*\]\s*/;

function inWords(stderr: string): string | null {
  if (stderr.includes('No usable sandbox')) {
    return (
      'its sandbox needs user namespaces, and this machine or container does not allow them to this user: ' +
      'allow them, or run workers where they are allowed'
    );
  }
  const lines = stderr.split('\n').filter((line) => line.trim() !== '' && !line.includes('dbus'));
  return lines.at(-1)?.trim().replace(prefix, '').slice(0, 300) ?? null;
}

/**
 * Says why a browser does not start, by starting it once more where its words can be heard. Null where it
 * starts, or says nothing.
 */
export function startFailure(
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
      (error, _stdout, stderr) => resolve(error === null ? null : inWords(stderr)),
    );
  });
}
