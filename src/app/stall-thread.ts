import { writeSync } from 'node:fs';
import { workerData } from 'node:worker_threads';
import { stallFd } from '../worker/protocol.ts';
import { createStallDetector, stallCheckMs } from '../worker/stall-detector.ts';
import { beatCounter, type StallMemory, unitInProgress } from '../worker/stall-watch.ts';

/*
 * The thread of a worker process that watches its main thread. It reports a stall through a pipe of
 * its own, because the channel to the parent belongs to the main thread, and ends the process.
 */

const memory = workerData as StallMemory;
const isStalled = createStallDetector();

setInterval(() => {
  const { user, system } = process.cpuUsage();
  const beats = Atomics.load(memory.counters, beatCounter);
  if (!isStalled({ beats, cpuMs: (user + system) / 1_000 })) return;
  try {
    writeSync(stallFd, JSON.stringify({ unit: unitInProgress(memory) }));
  } finally {
    process.kill(process.pid, 'SIGKILL');
  }
}, stallCheckMs);
