import { ChildProcess } from 'node:child_process';
import fs, { appendFileSync } from 'node:fs';
import promises from 'node:fs/promises';
import { syncBuiltinESMExports } from 'node:module';
import { DatabaseSync, StatementSync } from 'node:sqlite';
import { GCProfiler, getHeapStatistics } from 'node:v8';
import { noOperations } from './operations.ts';

/*
 * Loaded into the processes of a service by `--import`: counts what they do, and appends the counts
 * since their start to the file BENCH_OPERATIONS, as a line of JSON, when they receive SIGUSR2.
 */

const counts = { ...noOperations };
type Method = (this: unknown, ...parameters: never[]) => unknown;

/** Replaces methods by ones that call `count` first. */
function watch(
  target: object,
  names: readonly string[],
  count: (name: string, self: unknown) => void,
): void {
  for (const name of names) {
    const original = Reflect.get(target, name) as Method | undefined;
    if (typeof original !== 'function') continue;
    const watched: Method = function (...parameters) {
      count(name, this);
      return original.apply(this, parameters);
    };
    // promisify() reads properties of the original.
    Object.defineProperties(watched, Object.getOwnPropertyDescriptors(original));
    Reflect.set(target, name, watched);
  }
}

const texts = new WeakMap<object, string>();
const prepare = DatabaseSync.prototype.prepare;
DatabaseSync.prototype.prepare = function (...parameters: Parameters<typeof prepare>) {
  const statement = prepare.apply(this, parameters);
  texts.set(statement, parameters[0].trimStart().split(/[\s;]/, 1)[0]!.toUpperCase());
  return statement;
};
let isDurable = true;
let isInTransaction = false;
watch(StatementSync.prototype, ['all', 'get', 'run'], (_name, statement) => {
  const text = texts.get(statement as object) ?? '';
  counts.statements += 1;
  if (text === 'SELECT' || text === 'PRAGMA') return;
  if (text === 'BEGIN') isInTransaction = true;
  else if (text === 'COMMIT' || text === 'ROLLBACK') isInTransaction = false;
  if (isInTransaction) return;
  counts.commits += 1;
  if (isDurable) counts.durableCommits += 1;
});
const exec = DatabaseSync.prototype.exec;
DatabaseSync.prototype.exec = function (sql) {
  counts.statements += 1;
  const level = /synchronous = (\w+)/.exec(sql)?.[1];
  if (level !== undefined) isDurable = level === 'FULL';
  return exec.call(this, sql);
};

const operations = [
  'access',
  'close',
  'fstat',
  'mkdir',
  'open',
  'read',
  'readdir',
  'rename',
  'rm',
  'stat',
];
const synchronous = [...operations, 'write'].map((name) => `${name}Sync`);
const countFile = (name: string) => {
  counts.fileOperations += 1;
  if (name.startsWith('write')) counts.fileWrites += 1;
  if (name.includes('sync') && !name.endsWith('Sync')) counts.fileSyncs += 1;
};
watch(fs, [...operations, 'write', 'fsync', 'fdatasync', ...synchronous], countFile);
watch(promises, operations, countFile);
syncBuiltinESMExports();

const countMessage = () => {
  counts.messages += 1;
};
if (process.send) watch(process, ['send'], countMessage);
watch(ChildProcess.prototype, ['send'], countMessage);

let profiler = startProfiler();
let usedBytes = getHeapStatistics().used_heap_size;
function startProfiler(): GCProfiler {
  const started = new GCProfiler();
  started.start();
  return started;
}
/** Adds what was allocated on the heap since the last call: the growth between collections. */
function countAllocations(): void {
  for (const { beforeGC, afterGC } of profiler.stop()?.statistics ?? []) {
    counts.allocatedBytes += Math.max(0, beforeGC.heapStatistics.usedHeapSize - usedBytes);
    usedBytes = afterGC.heapStatistics.usedHeapSize;
  }
  const now = getHeapStatistics().used_heap_size;
  counts.allocatedBytes += Math.max(0, now - usedBytes);
  usedBytes = now;
  profiler = startProfiler();
}

process.on('SIGUSR2', () => {
  countAllocations();
  appendFileSync(process.env.BENCH_OPERATIONS!, `${JSON.stringify(counts)}\n`);
});
