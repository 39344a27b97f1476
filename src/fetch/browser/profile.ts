import { mkdtemp, readdir, rm, stat } from 'node:fs/promises';
import { hostname, tmpdir } from 'node:os';
import { join } from 'node:path';

/** Folders of this machine's processes only: containers may share one for temporary files. */
const prefix = `gleaner-browser-${hostname()}-`;

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

/** Whether whoever made a folder is gone. Where processes are few their ids come again: ours may be that
 *  of the process before. */
async function isLeft(path: string, pid: number): Promise<boolean> {
  if (pid !== process.pid) return !isAlive(pid);
  return (await stat(path)).mtimeMs < performance.timeOrigin;
}

/** Removes a browser's folder. Processes that are just ending may still write to it. */
export async function removeProfile(path: string): Promise<void> {
  await rm(path, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 });
}

/** Makes an empty folder for one run of a browser, and removes those that killed processes left behind. */
export async function makeProfile(): Promise<string> {
  const folder = tmpdir();
  for (const name of await readdir(folder)) {
    const pid = name.startsWith(prefix) ? /^(\d+)-/.exec(name.slice(prefix.length))?.[1] : undefined;
    if (pid === undefined) continue;
    const path = join(folder, name);
    // Another process may be faster.
    if (await isLeft(path, Number(pid)).catch(() => false)) await removeProfile(path).catch(() => {});
  }
  return mkdtemp(join(folder, `${prefix}${process.pid}-`));
}
