import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import type { Clock } from '../base/clock.ts';
import { childEnvironment } from '../base/config.ts';
import { createIpcChannel, type IpcChannel } from '../base/ipc-channel.ts';
import { serveQueue } from '../queue/local/remote.ts';
import type { Queue } from '../queue/queue.ts';
import type { BatchReference } from '../store/batches.ts';
import type { ParentCalls, WorkerCalls, WorkerReport, WorkerSetup } from './protocol.ts';

/** Options for startWorkerProcess(). */
export interface WorkerProcessOptions {
  /** Module run by the process. */
  entry: string;
  /** Heap limit, in bytes. */
  memoryBytes: number;
  setup: WorkerSetup;
  /** Functions that the process may call. */
  queue: Queue;
  clock: Clock;
  changed(jobId: string): void;
  report(report: WorkerReport): void;
}

/** Exit of a worker process. */
export interface WorkerEnd {
  code: number | null;
  signal: string | null;
}

/** A running worker process. */
export interface WorkerProcess {
  readonly pid: number;
  /** Messages in progress. After the process ended, the messages that were in progress at that time. */
  readonly inFlight: ReadonlyMap<string, BatchReference>;
  /** Resolves when the process has started work. Rejects if it ends first. */
  readonly started: Promise<void>;
  /** Resolves when the process has ended. */
  readonly ended: Promise<WorkerEnd>;
  /** Asks the process to release its batches and exit, and kills it after a timeout. */
  stop(): Promise<void>;
}

/**
 * Young generation of a worker's heap in MiB: half of Node's default. With one malloc arena this saves 50 MB
 * of resident memory under load for about 5 % of CPU time (docs/performance.md).
 */
const semiSpaceMb = 8;

/**
 * Garbage in the old generation of a worker that triggers a full collection, in percent of the live objects.
 * Records in progress outlive the young generation, so that V8's own limit is reached every 1,000 units.
 */
const maxGarbagePercent = 150;

/**
 * Settings of glibc's allocator. All threads share one arena. The fixed thresholds return large buffers and
 * the free end of the heap to the system; by default both thresholds grow with the buffers
 * (docs/performance.md).
 */
const allocatorSettings = {
  MALLOC_ARENA_MAX: '1',
  MALLOC_MMAP_THRESHOLD_: `${128 * 1024}`,
  MALLOC_TRIM_THRESHOLD_: `${1024 * 1024}`,
};

/** Time for a worker process to release its batches. */
const stopMs = 5_000;
/** Additional time for it to exit. */
const exitMs = 1_000;

/** Interval at which reports are checked. A process that misses three is killed. */
const checkMs = 20_000;
const maxMissed = 3;

/** Forks a worker process whose heap is limited to `memoryBytes`. */
function forkWorker({ entry, memoryBytes, setup }: WorkerProcessOptions) {
  return fork(entry, {
    // Structured clone, because the configuration contains maps.
    serialization: 'advanced',
    execArgv: [
      ...process.execArgv,
      `--max-old-space-size=${Math.round(memoryBytes / 1024 ** 2)}`,
      `--max-semi-space-size=${semiSpaceMb}`,
      // Modules are loaded with a young generation of about 1 MB; the process releases it after startup.
      '--semi-space-growth-factor=1',
      `--heap-growing-percent=${maxGarbagePercent}`,
    ],
    env: childEnvironment(setup.config.environment, allocatorSettings),
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  });
}

export function startWorkerProcess(options: WorkerProcessOptions): WorkerProcess {
  const { setup, clock } = options;
  const child = forkWorker(options);
  const inFlight = new Map<string, BatchReference>();
  const gone = new AbortController();
  let missed = 0;

  const served = serveQueue(options.queue, () => channel);
  const ours: ParentCalls = {
    ...served.calls,
    received: (message) => {
      inFlight.set(keyOf(message), message);
    },
    settled: (message) => {
      inFlight.delete(keyOf(message));
    },
    changed: options.changed,
    report: (report) => {
      missed = 0;
      options.report(report);
    },
  };
  const channel: IpcChannel<WorkerCalls> = createIpcChannel<WorkerCalls, ParentCalls>(
    {
      // A message to a process that just ended is lost; `exit` follows.
      send: (message) => child.connected && child.send(message as object, () => {}),
      receive: (listener) => child.on('message', listener),
    },
    ours,
  );
  const ended = endOf(child).finally(() => {
    gone.abort();
    channel.close();
    served.close();
  });

  const watch = async () => {
    while (!gone.signal.aborted) {
      await clock.sleep(checkMs, gone.signal);
      missed += 1;
      if (missed > maxMissed) child.kill('SIGKILL');
    }
  };
  void watch().catch(() => {});

  const started = channel.call('start', setup);
  let isStarted = false;
  started.then(
    () => {
      isStarted = true;
    },
    () => {},
  );
  return {
    pid: child.pid ?? 0,
    inFlight,
    started,
    ended,
    async stop() {
      // A process that is still loading has nothing to release.
      if (isStarted || inFlight.size > 0) {
        const stopped = channel.call('stop', null).catch(() => {});
        await Promise.race([stopped, clock.sleep(stopMs, gone.signal).catch(() => {})]);
        if (child.connected) child.disconnect();
        await Promise.race([ended, clock.sleep(exitMs, gone.signal).catch(() => {})]);
      }
      child.kill('SIGKILL');
      await ended;
    },
  };
}

/** A late redelivery must not be confused with the attempt in progress. */
const keyOf = ({ batchId, attempt }: BatchReference) => `${batchId}/${attempt}`;

/** Resolves with the end of a process, including one that failed to start. */
async function endOf(child: ChildProcess): Promise<WorkerEnd> {
  try {
    const [code, signal] = (await once(child, 'exit')) as [number | null, string | null];
    return { code, signal };
  } catch {
    return { code: null, signal: null };
  }
}
