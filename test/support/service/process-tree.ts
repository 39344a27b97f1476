import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import type { Socket } from 'node:net';

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

/** A loopback connection, as its server sees it. */
export type LoopbackConnection = Pick<Socket, 'remotePort' | 'localPort'>;

const toHex = (port: number) => port.toString(16).toUpperCase().padStart(4, '0');

/**
 * Returns the process among `pids` that owns the client end of a loopback connection. Connections
 * to different servers may have the same port at the client.
 */
export function ownerOf(
  pids: readonly number[],
  { remotePort, localPort }: LoopbackConnection,
): number | undefined {
  const ends = `[0-9A-F]+:${toHex(remotePort!)} [0-9A-F]+:${toHex(localPort!)}`;
  const row = new RegExp(`^\\s*\\d+: ${ends} (?:\\S+ +){6}(\\d+)`, 'm');
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
