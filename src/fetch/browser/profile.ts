import { mkdtemp, readdir, rm, stat } from 'node:fs/promises';
import { hostname, tmpdir } from 'node:os';
import { join } from 'node:path';

/** Prefix of this machine's folders: containers may share a folder for temporary files. */
const prefix = `gleaner-browser-${hostname()}-`;

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

/** Returns true if the process that created a folder has ended. In a container, a restarted process may get the same id
 *  again; a folder with this process's id that is older than the process belongs to its predecessor. */
async function isOrphaned(path: string, pid: number): Promise<boolean> {
  if (pid !== process.pid) return !isAlive(pid);
  return (await stat(path)).mtimeMs < performance.timeOrigin;
}

/** Removes a browser's folder. Retries, because processes that are ending may still write to it. */
export async function removeProfile(path: string): Promise<void> {
  await rm(path, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 });
}

/** Creates an empty folder for one run of a browser, and removes orphaned ones. */
export async function createProfile(): Promise<string> {
  const folder = tmpdir();
  for (const name of await readdir(folder)) {
    const pid = name.startsWith(prefix) ? /^(\d+)-/.exec(name.slice(prefix.length))?.[1] : undefined;
    if (pid === undefined) continue;
    const path = join(folder, name);
    // Another process may remove the folder first.
    if (await isOrphaned(path, Number(pid)).catch(() => false)) await removeProfile(path).catch(() => {});
  }
  return mkdtemp(join(folder, `${prefix}${process.pid}-`));
}
