import { setImmediate as nextTurn } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';
import type { ReadingGuard, UnitReading } from '../jobs/context.ts';

/** Memory that the main thread of a worker process shares with the thread that watches it. */
export interface StallMemory {
  /** Beats of the main thread, and the bytes of the unit that it reads. */
  counters: Int32Array<SharedArrayBuffer>;
  /** The unit that the main thread reads: JSON of a UnitReading. */
  unit: Uint8Array<SharedArrayBuffer>;
}

/** Indexes in `counters`. */
export const beatCounter = 0;
const unitLength = 1;

/** Size of a unit: three ids and a number. */
const maxUnitBytes = 512;

/** Interval between beats, in milliseconds. */
const beatMs = 500;

/** Watch over the main thread of a worker process. */
export interface StallWatch extends Pick<ReadingGuard, 'begin'> {
  stop(): Promise<void>;
}

/**
 * Starts a thread that ends this process if its main thread stalls, and reports the unit in
 * progress to the parent. `entry` is the module of the thread. `onError` is called if the thread
 * ends.
 */
export function startStallWatch(entry: string, onError: (error: unknown) => void): StallWatch {
  const memory = createStallMemory();
  const thread = new Worker(entry, {
    workerData: memory,
    // It does little, and shares no code with the main thread.
    resourceLimits: { maxOldGenerationSizeMb: 16, maxYoungGenerationSizeMb: 1, stackSizeMb: 1 },
  });
  thread.unref();
  thread.on('error', onError);
  const beats = setInterval(() => Atomics.add(memory.counters, beatCounter, 1), beatMs);
  beats.unref();
  return {
    begin: recordUnits(memory),
    async stop() {
      clearInterval(beats);
      await thread.terminate();
    },
  };
}

/** Creates the memory of a main thread without a beat and a unit. */
export const createStallMemory = (): StallMemory => ({
  counters: new Int32Array(new SharedArrayBuffer(2 * Int32Array.BYTES_PER_ELEMENT)),
  unit: new Uint8Array(new SharedArrayBuffer(maxUnitBytes)),
});

/** Returns the function that records in shared memory which unit the main thread reads. */
export function recordUnits({ counters, unit: bytes }: StallMemory): ReadingGuard['begin'] {
  const encoder = new TextEncoder();
  const end = () => Atomics.store(counters, unitLength, 0);
  return async (unit) => {
    // The microtasks of one callback may receive the pages of several units.
    while (Atomics.load(counters, unitLength) !== 0) await nextTurn();
    // The other thread reads it only while this one stalls.
    const { written } = encoder.encodeInto(JSON.stringify(unit), bytes);
    Atomics.store(counters, unitLength, written);
    // Node calls this after the microtasks, which read the page.
    process.nextTick(end);
  };
}

/** Returns the unit that the main thread reads, or null if it reads none. */
export function unitInProgress({ counters, unit }: StallMemory): UnitReading | null {
  const length = Atomics.load(counters, unitLength);
  // A decoder does not take shared memory.
  if (length === 0) return null;
  return JSON.parse(new TextDecoder().decode(unit.slice(0, length)));
}
