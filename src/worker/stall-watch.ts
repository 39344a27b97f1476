import { Worker } from 'node:worker_threads';
import type { UnitReading } from '../jobs/context.ts';

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
export interface StallWatch {
  /** Records that the main thread reads a page of a unit until its next turn. */
  begin(unit: UnitReading): void;
  stop(): Promise<void>;
}

/**
 * Starts a thread that ends this process if its main thread stalls, and reports the unit in
 * progress to the parent. `entry` is the module of the thread. `onError` is called if the thread
 * ends.
 */
export function startStallWatch(entry: string, onError: (error: unknown) => void): StallWatch {
  const memory: StallMemory = {
    counters: new Int32Array(new SharedArrayBuffer(2 * Int32Array.BYTES_PER_ELEMENT)),
    unit: new Uint8Array(new SharedArrayBuffer(maxUnitBytes)),
  };
  const thread = new Worker(entry, {
    workerData: memory,
    // It does little, and shares no code with the main thread.
    resourceLimits: { maxOldGenerationSizeMb: 16, maxYoungGenerationSizeMb: 1, stackSizeMb: 1 },
  });
  thread.unref();
  thread.on('error', onError);
  const beats = setInterval(() => Atomics.add(memory.counters, beatCounter, 1), beatMs);
  beats.unref();
  const encoder = new TextEncoder();
  const end = () => Atomics.store(memory.counters, unitLength, 0);
  return {
    begin(unit) {
      // The other thread reads it only while this one stalls.
      const { written } = encoder.encodeInto(JSON.stringify(unit), memory.unit);
      Atomics.store(memory.counters, unitLength, written);
      setImmediate(end);
    },
    async stop() {
      clearInterval(beats);
      await thread.terminate();
    },
  };
}

/** Returns the unit that the main thread reads, or null if it reads none. */
export function unitInProgress({ counters, unit }: StallMemory): UnitReading | null {
  const length = Atomics.load(counters, unitLength);
  // A decoder does not take shared memory.
  return length === 0 ? null : JSON.parse(new TextDecoder().decode(unit.slice(0, length)));
}
