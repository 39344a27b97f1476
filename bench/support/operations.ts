import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { family } from './usage.ts';

/** Operations of processes. */
export interface Operations {
  /** Statements of SQLite, with those that begin and end transactions. */
  statements: number;
  /** Commits of SQLite, and those of them that wait for the disk. */
  commits: number;
  durableCommits: number;
  /** Messages between the processes. */
  messages: number;
  /**
   * Operations on files other than SQLite's, and those of them that write, or wait for the disk.
   */
  fileOperations: number;
  fileWrites: number;
  fileSyncs: number;
  /** Bytes allocated on the heaps of main threads. */
  allocatedBytes: number;
}

/** Counts of processes that did nothing. */
export const noOperations: Operations = {
  statements: 0,
  commits: 0,
  durableCommits: 0,
  messages: 0,
  fileOperations: 0,
  fileWrites: 0,
  fileSyncs: 0,
  allocatedBytes: 0,
};

/** Options of Node that load the counters into a process and its child processes. */
export const countingOptions: readonly string[] = [
  '--import',
  fileURLToPath(new URL('count-operations.ts', import.meta.url)),
];

/** Returns what a process with `countingOptions` and its child processes did since their start. */
export async function operationsOf(pid: number, file: string): Promise<Operations> {
  writeFileSync(file, '');
  const members = family(pid);
  for (const member of members) process.kill(member, 'SIGUSR2');
  for (;;) {
    const lines = readFileSync(file, 'utf8').split('\n').slice(0, -1);
    if (lines.length === members.length)
      return lines.map((line) => JSON.parse(line) as Operations).reduce(sum);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

const names = Object.keys(noOperations) as (keyof Operations)[];

const combine = (one: Operations, other: Operations, sign: 1 | -1): Operations =>
  Object.fromEntries(
    names.map((name) => [name, one[name] + sign * other[name]]),
  ) as never as Operations;

const sum = (one: Operations, other: Operations) => combine(one, other, 1);

/** Returns what was done between two counts. */
export const since = (before: Operations, after: Operations) => combine(after, before, -1);
