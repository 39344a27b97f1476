import { readFileSync, writeFileSync } from 'node:fs';

/** Milliseconds of CPU time per clock tick: Linux counts in hundredths of a second. */
const tickMs = 10;

/** Reads a file of a process. Returns null if the process has ended. */
function unlessEnded<T>(read: () => T): T | null {
  try {
    return read();
  } catch (error) {
    if (['ENOENT', 'ESRCH'].includes((error as NodeJS.ErrnoException).code ?? '')) return null;
    throw error;
  }
}

/** Returns the ids of a process and its descendants. */
export function family(pid: number): number[] {
  const children =
    unlessEnded(() => readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8')) ?? '';
  const ids = children.trim().split(' ').filter(Boolean);
  return [pid, ...ids.flatMap((child) => family(Number(child)))];
}

/** Returns the CPU time of a process and its descendants in milliseconds, including threads. */
export const processorMs = (pid: number): number =>
  family(pid).reduce((sum, member) => sum + (unlessEnded(() => ownProcessorMs(member)) ?? 0), 0);

/** Returns the CPU time of a process in milliseconds, including threads. */
export function ownProcessorMs(pid: number): number {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
  // The process name in parentheses may contain spaces.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return (Number(fields[11]) + Number(fields[12])) * tickMs;
}

/** Resident memory in bytes. */
export interface Memory {
  now: number;
  /** Highest since forgetPeak(). */
  peak: number;
  /** Proportional set size: a page shared by several processes is divided among them. */
  proportional: number;
}

/** Memory of a process with its descendants. */
export interface FamilyMemory extends Memory {
  /**
   * Memory of the process alone. The other figures are sums over all processes and count shared
   * pages for each.
   */
  own: Memory;
}

/**
 * Measures a process and its descendants. `peak` is the sum of their peaks, which need not be
 * simultaneous.
 */
export function memory(pid: number): FamilyMemory {
  const all = family(pid)
    .map((member) => unlessEnded(() => ownMemory(member)))
    .filter((one) => one !== null);
  const sum = (name: keyof Memory) => all.reduce((total, one) => total + one[name], 0);
  return { now: sum('now'), peak: sum('peak'), proportional: sum('proportional'), own: all[0]! };
}

function ownMemory(pid: number): Memory {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  const bytes = (name: string) =>
    Number(new RegExp(`^${name}:\\s*(\\d+) kB`, 'm').exec(status)![1]) * 1024;
  const rollup = readFileSync(`/proc/${pid}/smaps_rollup`, 'utf8');
  const proportional = Number(/^Pss:\s*(\d+) kB/m.exec(rollup)![1]) * 1024;
  return { now: bytes('VmRSS'), peak: bytes('VmHWM'), proportional };
}

/** Resets the peak memory of a process and its descendants. */
export function forgetPeak(pid: number): void {
  for (const member of family(pid)) writeFileSync(`/proc/${member}/clear_refs`, '5');
}
