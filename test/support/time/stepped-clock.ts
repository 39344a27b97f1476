import { mkdtemp, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { findProgram, type MissingEngine } from '../../engines/missing.ts';

/** A file from which processes read how their clock differs from the right one. */
export interface ClockFile {
  path: string;
  /** Replaces the contents at once. */
  set(offset: string): Promise<void>;
  remove(): Promise<void>;
}

/** A clock of processes that a test sets. */
export interface SteppedClock extends Pick<ClockFile, 'remove'> {
  /** Environment of the processes. */
  environment: Record<string, string>;
  /** Sets the clock: "+1d" for a day ahead, "+0 x10" for ten times the speed. */
  set(offset: string): Promise<void>;
}

/** Creates a file with the offset of the clock of the processes that read it. */
export async function createClockFile(offset: string): Promise<ClockFile> {
  const folder = await mkdtemp(join(tmpdir(), 'gleaner-clock-'));
  const path = join(folder, 'clock');
  const set = async (next: string) => {
    await writeFile(`${path}.next`, `${next}\n`);
    await rename(`${path}.next`, path);
  };
  await set(offset);
  return { path, set, remove: () => rm(folder, { recursive: true }) };
}

/**
 * Creates a clock that is right, or returns why there is none. The monotonic clock of a process is
 * unchanged.
 */
export async function createSteppedClock(): Promise<SteppedClock | MissingEngine> {
  const library = findProgram('libfaketimeMT.so.1');
  if (library === null) return { missing: 'libfaketime is not installed: run deploy/engines.sh' };
  const { path, set, remove } = await createClockFile('+0');
  return {
    environment: {
      LD_PRELOAD: library,
      FAKETIME_TIMESTAMP_FILE: path,
      FAKETIME_NO_CACHE: '1',
      FAKETIME_DONT_FAKE_MONOTONIC: '1',
    },
    set,
    remove,
  };
}
