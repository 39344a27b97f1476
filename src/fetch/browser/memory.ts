import { readdir, readFile } from 'node:fs/promises';

interface Held {
  parent: number;
  /** Bytes of its own, and bytes that it may share with others. */
  own: number;
  shared: number;
}

function kilobytes(status: string, name: string): number {
  return Number(new RegExp(`^${name}:\\s*(\\d+) kB`, 'm').exec(status)?.[1] ?? 0) * 1024;
}

async function heldBy(pid: string): Promise<[number, Held] | null> {
  try {
    const status = await readFile(`/proc/${pid}/status`, 'latin1');
    const parent = Number(/^PPid:\s*(\d+)/m.exec(status)?.[1]);
    const shared = kilobytes(status, 'RssFile') + kilobytes(status, 'RssShmem');
    return [Number(pid), { parent, own: kilobytes(status, 'RssAnon'), shared }];
  } catch {
    // It has ended meanwhile.
    return null;
  }
}

/**
 * Bytes of memory that a process and all that it started hold: what is each one's own, and once the
 * most that one of them shares, since a browser's processes run one program. Null where the system has no
 * /proc, and when the process has ended.
 */
export async function memoryOf(root: number): Promise<number | null> {
  const names = await readdir('/proc').catch(() => [] as string[]);
  const found = await Promise.all(names.filter((name) => /^\d+$/.test(name)).map(heldBy));
  const processes = new Map(found.filter((entry) => entry !== null));
  if (!processes.has(root)) return null;
  const belongs = (pid: number): boolean => {
    const seen = new Set<number>();
    for (let at = pid; at > 1 && !seen.has(at); at = processes.get(at)?.parent ?? 0) {
      if (at === root) return true;
      seen.add(at);
    }
    return false;
  };
  const tree = [...processes].filter(([pid]) => belongs(pid)).map(([, held]) => held);
  const own = tree.reduce((sum, held) => sum + held.own, 0);
  return own + Math.max(...tree.map(({ shared }) => shared));
}
