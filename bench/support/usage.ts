import { readFileSync, writeFileSync } from 'node:fs';

/** Milliseconds of processor time per clock tick: Linux counts in hundredths of a second. */
const tickMs = 10;

/** A process and the processes that it started. */
export function family(pid: number): number[] {
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(' ');
  return [pid, ...children.filter((child) => child !== '').flatMap((child) => family(Number(child)))];
}

/** Processor time in milliseconds that a process and those that it started have used, threads included. */
export const processorMs = (pid: number): number =>
  family(pid).reduce((sum, member) => sum + ownProcessorMs(member), 0);

function ownProcessorMs(pid: number): number {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
  // The name, in parentheses, may hold spaces; what follows it does not.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return (Number(fields[11]) + Number(fields[12])) * tickMs;
}

/**
 * Resident memory of a process and those that it started, in bytes: now, and the sum of their peaks since
 * `forgetPeak`. Pages that they share are counted for each; `proportional` counts them once. `own`: of the
 * process alone, now.
 */
export function memory(pid: number): { now: number; peak: number; proportional: number; own: number } {
  const all = family(pid).map(ownMemory);
  const sum = (name: 'now' | 'peak' | 'proportional') => all.reduce((total, one) => total + one[name], 0);
  return { now: sum('now'), peak: sum('peak'), proportional: sum('proportional'), own: all[0]!.now };
}

function ownMemory(pid: number): { now: number; peak: number; proportional: number } {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  const bytes = (name: string) => Number(new RegExp(`^${name}:\\s*(\\d+) kB`, 'm').exec(status)![1]) * 1024;
  const rollup = readFileSync(`/proc/${pid}/smaps_rollup`, 'utf8');
  const proportional = Number(/^Pss:\s*(\d+) kB/m.exec(rollup)![1]) * 1024;
  return { now: bytes('VmRSS'), peak: bytes('VmHWM'), proportional };
}

/** Resets the peak memory of a process and those that it started. */
export function forgetPeak(pid: number): void {
  for (const member of family(pid)) writeFileSync(`/proc/${member}/clear_refs`, '5');
}
