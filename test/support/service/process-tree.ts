import { readdirSync, readFileSync, readlinkSync } from 'node:fs';

/** Returns the ids of a process's children, or none if it does not run. */
export function listChildren(pid: number): number[] {
  try {
    const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8');
    return children.trim().split(' ').filter(Boolean).map(Number);
  } catch {
    return [];
  }
}

/** Returns true if a process runs and is not a zombie. */
export function runs(pid: number): boolean {
  try {
    return !/^State:\s*Z/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'));
  } catch {
    return false;
  }
}

/** Returns the process among `pids` that owns the client end of a loopback connection. */
export function ownerOf(pids: readonly number[], clientPort: number): number | undefined {
  const hex = clientPort.toString(16).toUpperCase().padStart(4, '0');
  const row = new RegExp(`^\\s*\\d+: [0-9A-F]+:${hex} (?:\\S+ +){7}(\\d+)`, 'm');
  const inode = row.exec(readFileSync('/proc/net/tcp', 'utf8'))?.[1];
  return pids.find((pid) => descriptorsOf(pid).includes(`socket:[${inode}]`));
}

/** Returns the targets of a process's open descriptors. */
function descriptorsOf(pid: number): string[] {
  try {
    return readdirSync(`/proc/${pid}/fd`).map((fd) => {
      try {
        return readlinkSync(`/proc/${pid}/fd/${fd}`);
      } catch {
        // The descriptor was closed after the folder was listed.
        return '';
      }
    });
  } catch {
    // The process has ended.
    return [];
  }
}
