import { statfs } from 'node:fs/promises';
import type { Clock } from './clock.ts';
import type { Log } from './log.ts';

/** Tells whether the disk of the data folder has room for more work. */
export interface DiskSpace {
  /** True from when free space falls below the minimum until it is 25 % above it. Never rejects. */
  isLow(): Promise<boolean>;
}

/** Options for createDiskSpace(). */
export interface DiskSpaceOptions {
  /** Reads the free bytes. */
  readFree(): Promise<number>;
  /** Free bytes below which the disk counts as almost full; 0: never. */
  minFreeBytes: number;
  clock: Clock;
  log: Log;
}

/** How long a reading holds, in milliseconds. */
const readingMs = 5_000;

/** Share of the minimum that must be free again: without a margin, the state would change with every file. */
const recovery = 1.25;

/** The disk of a deployment that keeps nothing in the data folder but its secrets. */
export const unusedDisk: DiskSpace = { isLow: async () => false };

/** Creates the watch of a disk. It reads when it is asked, at most every 5 seconds. */
export function createDiskSpace({ readFree, minFreeBytes, clock, log }: DiskSpaceOptions): DiskSpace {
  let low = false;
  let readAt = Number.NEGATIVE_INFINITY;
  let reading: Promise<void> | undefined;
  const read = async () => {
    try {
      const freeBytes = await readFree();
      const isLow = freeBytes < (low ? minFreeBytes * recovery : minFreeBytes);
      if (isLow && !low) log.error({ freeBytes, minFreeBytes }, 'disk almost full, work paused');
      if (!isLow && low) log.info({ freeBytes, minFreeBytes }, 'disk has room again, work resumed');
      low = isLow;
    } catch (error) {
      log.warn({ error: (error as Error).message }, 'free disk space not read');
    }
    readAt = clock.now();
  };
  return {
    async isLow() {
      if (minFreeBytes === 0) return false;
      if (clock.now() - readAt >= readingMs) {
        reading ??= read().finally(() => {
          reading = undefined;
        });
        await reading;
      }
      return low;
    },
  };
}

/** Reads the bytes that this program's user may still write to a folder's disk. */
export async function readFreeBytes(folder: string): Promise<number> {
  const { bavail, bsize } = await statfs(folder);
  return bavail * bsize;
}
