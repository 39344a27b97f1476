import { mkdtemp, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { findProgram, type MissingEngine } from '../engines/missing.ts';

/** A clock of processes that a test sets. */
export interface SteppedClock {
  /** Environment of the processes. */
  environment: Record<string, string>;
  /** Sets the clock: "+1d" for a day ahead, "+0 x10" for ten times the speed. */
  set(offset: string): Promise<void>;
  remove(): Promise<void>;
}

/** Creates a clock that is right, or returns why there is none. The monotonic clock of a process is unchanged. */
export async function createSteppedClock(): Promise<SteppedClock | MissingEngine> {
  const library = findProgram('libfaketimeMT.so.1');
  if (library === null) return { missing: 'libfaketime is not installed: run deploy/engines.sh' };
  const folder = await mkdtemp(join(tmpdir(), 'gleaner-clock-'));
  const set = async (offset: string) => {
    await writeFile(join(folder, 'next'), `${offset}\n`);
    await rename(join(folder, 'next'), join(folder, 'clock'));
  };
  await set('+0');
  return {
    environment: {
      LD_PRELOAD: library,
      FAKETIME_TIMESTAMP_FILE: join(folder, 'clock'),
      FAKETIME_NO_CACHE: '1',
      FAKETIME_DONT_FAKE_MONOTONIC: '1',
    },
    set,
    remove: () => rm(folder, { recursive: true }),
  };
}
