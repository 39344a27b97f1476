import { mkdtemp, readdir, rm, stat } from 'node:fs/promises';
import { hostname, tmpdir } from 'node:os';
import { join } from 'node:path';
import { sha256 } from './id.ts';

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

/**
 * Returns true if the process that created a folder has ended. In a container, a restarted process
 * may get the same id again; a folder with this process's id that is older than the process belongs
 * to its predecessor.
 */
async function isOrphaned(path: string, pid: number): Promise<boolean> {
  if (pid !== process.pid) return !isAlive(pid);
  return (await stat(path)).mtimeMs < performance.timeOrigin;
}

/** Removes a temporary folder. Retries, because processes that are ending may still write to it. */
export async function removeProcessFolder(path: string): Promise<void> {
  await rm(path, {
    recursive: true,
    force: true,
    maxRetries: 5,
    retryDelay: 100,
  });
}

/**
 * Returns how the names of a machine's folders begin, since containers may share a folder for
 * temporary files. The digest keeps paths short, also with the long names of pods.
 */
const prefixOf = (purpose: string) => `gleaner-${purpose}-${sha256(hostname()).slice(0, 6)}-`;

/** Returns how the names of a process's folders begin. */
export const processFolderPrefix = (purpose: string, pid: number) => `${prefixOf(purpose)}${pid}-`;

/**
 * Creates an empty temporary folder of this process, `gleaner-<purpose>-<machine>-<pid>-…`, and
 * removes the folders of the same purpose whose processes have ended or were killed.
 */
export async function createProcessFolder(purpose: string, folder = tmpdir()): Promise<string> {
  const prefix = prefixOf(purpose);
  for (const name of await readdir(folder)) {
    const pid = name.startsWith(prefix)
      ? /^(\d+)-/.exec(name.slice(prefix.length))?.[1]
      : undefined;
    if (pid === undefined) continue;
    const path = join(folder, name);
    // Another process may remove the folder first.
    if (await isOrphaned(path, Number(pid)).catch(() => false))
      await removeProcessFolder(path).catch(() => {});
  }
  return mkdtemp(join(folder, processFolderPrefix(purpose, process.pid)));
}
