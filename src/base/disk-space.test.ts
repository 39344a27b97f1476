import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeEach, describe, expect, test } from 'vitest';
import { createManualClock, type ManualClock } from '../../test/support/time/clock.ts';
import { createDiskSpace, type DiskSpace, readFreeBytes } from './disk-space.ts';
import { createLog } from './log.ts';

const log = createLog('silent', 'test');
let clock: ManualClock;
let free: number | Error;
let readings: number;
beforeEach(() => {
  clock = createManualClock(0);
  readings = 0;
});

const disk = (minFreeBytes = 1_000): DiskSpace =>
  createDiskSpace({
    readFree: async () => {
      readings += 1;
      if (free instanceof Error) throw free;
      return free;
    },
    minFreeBytes,
    clock,
    log,
  });

describe('createDiskSpace()', () => {
  test('isLow() returns true below the minimum until 25 % more is free', async () => {
    const space = disk();
    const steps: [number, boolean][] = [
      [1_000, false],
      [999, true],
      [1_249, true],
      [1_250, false],
      [1_000, false],
      [0, true],
      [5_000, false],
    ];
    for (const [bytes, low] of steps) {
      free = bytes;
      expect(await space.isLow(), `${bytes} free`).toBe(low);
      await clock.advance(5_000);
    }
  });

  test('reads at most every five seconds, and once for concurrent calls', async () => {
    const space = disk();
    free = 5_000;
    await Promise.all([space.isLow(), space.isLow(), space.isLow()]);
    free = 0;
    await clock.advance(4_999);
    expect([await space.isLow(), readings]).toEqual([false, 1]);
    await clock.advance(1);
    expect([await space.isLow(), readings]).toEqual([true, 2]);
  });

  test('keeps its state while free space cannot be read', async () => {
    const space = disk();
    for (const [bytes, low] of [
      [new Error('no such folder'), false],
      [0, true],
      [new Error('no such folder'), true],
    ] as const) {
      free = bytes;
      expect(await space.isLow()).toBe(low);
      await clock.advance(5_000);
    }
  });

  test('is never low with a minimum of 0', async () => {
    free = 0;
    expect([await disk(0).isLow(), readings]).toEqual([false, 0]);
  });
});

describe('readFreeBytes()', () => {
  test('returns the free space of the folder’s disk', async () => {
    expect(await readFreeBytes(tmpdir())).toBeGreaterThan(0);
    await expect(readFreeBytes(join(tmpdir(), 'gleaner-missing', 'folder'))).rejects.toThrow(
      'ENOENT',
    );
  });
});
