import { beforeEach, expect, test } from 'vitest';
import { createManualClock, flushTasks, type ManualClock } from '../../test/support/time/clock.ts';
import { Fault } from '../contract/fault.ts';
import type { BatchReference } from '../store/batches.ts';
import type { WorkerEnd, WorkerProcess } from './process.ts';
import { createSuspectReader, type SuspectReader } from './suspect-reader.ts';

/** A process, and how it ends. */
interface FakeProcess extends WorkerProcess {
  reads: { batchId: string; ends: PromiseWithResolvers<void> }[];
  isStopped: boolean;
  die(): void;
}

const gone = () => new Fault('unavailable', 'The other process has ended.');

let clock: ManualClock;
let processes: FakeProcess[];
let released: WorkerProcess[];
let published: string[];
let reader: SuspectReader;

function startProcess(): FakeProcess {
  const ended = Promise.withResolvers<WorkerEnd>();
  const inFlight = new Map<string, BatchReference>();
  const process: FakeProcess = {
    pid: 1,
    holder: 'holder',
    inFlight,
    claims: new Map(),
    started: Promise.resolve(),
    ended: ended.promise,
    reads: [],
    isStopped: false,
    async read(message) {
      inFlight.set(message.batchId, message);
      const ends = Promise.withResolvers<void>();
      process.reads.push({ batchId: message.batchId, ends });
      await ends.promise;
      inFlight.delete(message.batchId);
    },
    async stop() {
      process.isStopped = true;
      process.reads.at(-1)?.ends.reject(gone());
    },
    die() {
      ended.resolve({ code: null, signal: 'SIGKILL', stall: null, isSilent: false });
      process.reads.at(-1)?.ends.reject(gone());
    },
  };
  processes.push(process);
  return process;
}

const message = (batchId: string, attempt = 1): BatchReference => ({
  jobId: 'job',
  batchId,
  market: 'mkta',
  region: 'id',
  lane: 'bulk',
  units: 1,
  attempt,
});

beforeEach(() => {
  clock = createManualClock(0);
  processes = [];
  released = [];
  published = [];
  reader = createSuspectReader({
    clock,
    start: startProcess,
    release: async (process) => {
      released.push(process);
    },
    publish: async ({ batchId }) => {
      published.push(batchId);
    },
  });
  return () => reader.stop();
});

test('starts a process with the first batch, reads one at a time, and stops it after 10 s without any', async () => {
  expect(processes).toEqual([]);
  for (const batchId of ['a', 'b', 'b']) reader.add(message(batchId));
  await flushTasks();
  expect(processes).toHaveLength(1);
  const [process] = processes;
  expect(process!.reads.map(({ batchId }) => batchId)).toEqual(['a']);
  process!.reads[0]!.ends.resolve();
  await flushTasks();
  expect(process!.reads.map(({ batchId }) => batchId)).toEqual(['a', 'b']);
  process!.reads[1]!.ends.resolve();
  await flushTasks();
  await clock.advance(9_000);
  reader.add(message('c'));
  await flushTasks();
  expect(process!.reads).toHaveLength(3);
  process!.reads[2]!.ends.resolve();
  await flushTasks();
  expect(process!.isStopped).toBe(false);
  await clock.advance(10_000);
  await flushTasks();
  expect(process!.isStopped).toBe(true);
  expect(released).toEqual([]);
  reader.add(message('d'));
  await flushTasks();
  expect(processes).toHaveLength(2);
});

test('releases the batch of a process that dies, and reads the next one in another', async () => {
  reader.add(message('a'));
  reader.add(message('b'));
  await flushTasks();
  processes[0]!.die();
  await flushTasks();
  expect(released).toEqual([processes[0]]);
  await clock.advance(500);
  await flushTasks();
  expect(processes[1]!.reads.map(({ batchId }) => batchId)).toEqual(['b']);
  expect(published).toEqual([]);
});

test('publishes a batch that could not be read', async () => {
  reader.add(message('a'));
  await flushTasks();
  const [process] = processes;
  (process!.inFlight as Map<string, BatchReference>).delete('a');
  process!.reads[0]!.ends.reject(new Fault('unavailable', 'the disk is almost full'));
  await flushTasks();
  await clock.advance(500);
  await flushTasks();
  expect(published).toEqual(['a']);
});

test('stops its process', async () => {
  reader.add(message('a'));
  await flushTasks();
  await reader.stop();
  expect(processes[0]!.isStopped).toBe(true);
  reader.add(message('b'));
  await flushTasks();
  expect(processes).toHaveLength(1);
});
