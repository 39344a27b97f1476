import { readdir, readFile } from 'node:fs/promises';

interface ProcessMemory {
  parent: number;
  /** Private bytes. */
  own: number;
  /** Bytes that it may share with other processes. */
  shared: number;
}

function kilobytes(status: string, name: string): number {
  return Number(new RegExp(`^${name}:\\s*(\\d+) kB`, 'm').exec(status)?.[1] ?? 0) * 1024;
}

async function readMemory(pid: string): Promise<[number, ProcessMemory] | null> {
  try {
    const status = await readFile(`/proc/${pid}/status`, 'latin1');
    const parent = Number(/^PPid:\s*(\d+)/m.exec(status)?.[1]);
    const shared = kilobytes(status, 'RssFile') + kilobytes(status, 'RssShmem');
    return [Number(pid), { parent, own: kilobytes(status, 'RssAnon'), shared }];
  } catch {
    // The process has ended in the meantime.
    return null;
  }
}

/**
 * Returns the memory of a process and its descendants in bytes. Shared memory counts once, with the
 * maximum of one process, since the processes of a browser run the same program. Returns null
 * without /proc, or if the process has ended.
 */
export async function readTreeMemory(root: number): Promise<number | null> {
  const names = await readdir('/proc').catch(() => [] as string[]);
  const found = await Promise.all(names.filter((name) => /^\d+$/.test(name)).map(readMemory));
  const processes = new Map(found.filter((entry) => entry !== null));
  if (!processes.has(root)) return null;
  const isDescendant = (pid: number): boolean => {
    const seen = new Set<number>();
    for (let at = pid; at > 1 && !seen.has(at); at = processes.get(at)?.parent ?? 0) {
      if (at === root) return true;
      seen.add(at);
    }
    return false;
  };
  const tree = [...processes].filter(([pid]) => isDescendant(pid)).map(([, memory]) => memory);
  const own = tree.reduce((sum, { own }) => sum + own, 0);
  return own + Math.max(...tree.map(({ shared }) => shared));
}
