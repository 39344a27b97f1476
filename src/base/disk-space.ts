import { statfs } from 'node:fs/promises';
import type { Clock } from './clock.ts';
import type { Log } from './log.ts';

/** Reports whether the data folder's disk has space for more work. */
export interface DiskSpace {
  /**
   * Returns true once free space falls below the minimum, until it exceeds the minimum by 25 %.
   * Never rejects.
   */
  isLow(): Promise<boolean>;
}

export interface DiskSpaceOptions {
  /** Returns the free space in bytes. */
  readFree(): Promise<number>;
  /** Minimum free bytes; 0: no limit. */
  minFreeBytes: number;
  clock: Clock;
  log: Log;
}

/** Validity of a reading, in milliseconds. */
const readingMs = 5_000;

/**
 * Free space required to resume, relative to the minimum. Without a margin the state would change
 * with every file.
 */
const recovery = 1.25;

/** Stand-in for deployments that keep only secrets in the data folder. */
export const unusedDisk: DiskSpace = { isLow: async () => false };

/** Creates a disk monitor. It reads the free space on demand, at most every 5 seconds. */
export function createDiskSpace({
  readFree,
  minFreeBytes,
  clock,
  log,
}: DiskSpaceOptions): DiskSpace {
  let low = false;
  let readAt = Number.NEGATIVE_INFINITY;
  let pending: Promise<void> | undefined;
  const read = async () => {
    try {
      const freeBytes = await readFree();
      const isLow = freeBytes < (low ? minFreeBytes * recovery : minFreeBytes);
      if (isLow && !low) log.error({ freeBytes, minFreeBytes }, 'disk almost full, work paused');
      if (!isLow && low)
        log.info({ freeBytes, minFreeBytes }, 'disk space available, work resumed');
      low = isLow;
    } catch (error) {
      log.warn({ error: (error as Error).message }, 'free disk space not read');
    }
    readAt = clock.steady();
  };
  return {
    async isLow() {
      if (minFreeBytes === 0) return false;
      if (clock.steady() - readAt >= readingMs) {
        pending ??= read().finally(() => {
          pending = undefined;
        });
        await pending;
      }
      return low;
    },
  };
}

/** Returns the bytes on a folder's disk that the current user may still write. */
export async function readFreeBytes(folder: string): Promise<number> {
  const { bavail, bsize } = await statfs(folder);
  return bavail * bsize;
}
