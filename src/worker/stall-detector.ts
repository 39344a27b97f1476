/** State of a process, as its watching thread sees it. */
export interface StallCheck {
  /** Number of turns of the main thread's timer so far. */
  beats: number;
  /** Processor time of the process so far, in milliseconds. */
  cpuMs: number;
}

/** Interval between checks, in milliseconds. */
export const stallCheckMs = 1_000;

/**
 * Checks without a beat, and processor time since the last beat, after which the main thread counts
 * as stalled. Reading a page takes up to two seconds (src/markets/html/page-work.ts).
 */
const minChecks = 5;
const minCpuMs = 3_000;

/**
 * Creates a function that returns true once the main thread is stalled: it has run without a turn
 * of its event loop for 5 to 10 seconds. A process that does not run, because it or its machine is
 * frozen, uses no processor time and is not stalled.
 */
export function createStallDetector(): (check: StallCheck) => boolean {
  let last: StallCheck | null = null;
  let checks = 0;
  return (check) => {
    if (last === null || check.beats !== last.beats) {
      last = check;
      checks = 0;
      return false;
    }
    checks += 1;
    return checks >= minChecks && check.cpuMs - last.cpuMs >= minCpuMs;
  };
}
