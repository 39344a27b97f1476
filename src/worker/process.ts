import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import type { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import type { Clock } from '../base/clock.ts';
import { childEnvironment } from '../base/config.ts';
import { createIpcChannel, type IpcChannel } from '../base/ipc-channel.ts';
import { serveQueue } from '../queue/local/remote.ts';
import type { Queue } from '../queue/queue.ts';
import type { BatchReference } from '../store/batches.ts';
import {
  type ParentCalls,
  type StallReport,
  stallFd,
  type WorkerCalls,
  type WorkerReport,
  type WorkerSetup,
} from './protocol.ts';

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
  suspect(message: BatchReference): void;
  report(report: WorkerReport): void;
}

/** Exit of a worker process. */
export interface WorkerEnd {
  code: number | null;
  signal: string | null;
  /** Report of the process that its main thread stalls. Null if it ended for another reason. */
  stall: StallReport | null;
  /** True if the process was killed because it sent no reports. */
  isSilent: boolean;
}

/** A running worker process. */
export interface WorkerProcess {
  readonly pid: number;
  /** Id as a holder of origins' permits. */
  readonly holder: string;
  /**
   * Messages in progress. After the process ended, the messages that were in progress at that time.
   */
  readonly inFlight: ReadonlyMap<string, BatchReference>;
  /** Attempts of its claims, by batch. */
  readonly claims: ReadonlyMap<string, number>;
  /** Resolves when the process has started work. Rejects if it ends first. */
  readonly started: Promise<void>;
  /** Resolves when the process has ended. */
  readonly ended: Promise<WorkerEnd>;
  /** Reads a batch. Rejects if the batch cannot be read now, or the process ends. */
  read(message: BatchReference): Promise<void>;
  /** Asks the process to release its batches and exit, and kills it after a timeout. */
  stop(): Promise<void>;
}

/**
 * Young generation of a worker's heap in MiB: half of Node's default. With one malloc arena this
 * saves 50 MB of resident memory under load for about 5 % of CPU time (docs/performance.md).
 */
const semiSpaceMb = 8;

/**
 * Garbage in the old generation of a worker that triggers a full collection, in percent of the live
 * objects. Records in progress outlive the young generation, so that V8's own limit is reached
 * every 1,000 units.
 */
const maxGarbagePercent = 150;

/**
 * Settings of glibc's allocator. All threads share one arena. The fixed thresholds return large
 * buffers and the free end of the heap to the system; by default both thresholds grow with the
 * buffers (docs/performance.md).
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

/**
 * Interval at which reports are checked. A process that misses three is killed, after 36 to 48 s:
 * before the sweep publishes its batches again. One that runs without a turn of its event loop has
 * ended itself before (stall-detector.ts), so this one is frozen or waits for the system.
 */
const checkMs = 12_000;
const maxMissed = 3;

/** Time for the rest of the output of an ended process. */
const outputMs = 1_000;

/** Forks a worker process whose heap is limited to `memoryBytes`. */
function forkWorker({ entry, memoryBytes, setup }: WorkerProcessOptions) {
  return fork(entry, {
    // Structured clone, because the configuration contains maps.
    serialization: 'advanced',
    execArgv: [
      ...process.execArgv,
      `--max-old-space-size=${Math.round(memoryBytes / 1024 ** 2)}`,
      `--max-semi-space-size=${semiSpaceMb}`,
      // Modules are loaded with a young generation of about 1 MB; the process releases it after
      // startup.
      '--semi-space-growth-factor=1',
      `--heap-growing-percent=${maxGarbagePercent}`,
    ],
    env: childEnvironment(setup.config.environment, allocatorSettings),
    stdio: ['ignore', 'inherit', 'inherit', 'ipc', 'pipe'],
  });
}

export function startWorkerProcess(options: WorkerProcessOptions): WorkerProcess {
  const { setup, clock } = options;
  const child = forkWorker(options);
  const inFlight = new Map<string, BatchReference>();
  const claims = new Map<string, number>();
  const gone = new AbortController();
  let missed = 0;
  let isSilent = false;

  const served = serveQueue(options.queue, () => channel, String(setup.index));
  const ours: ParentCalls = {
    ...served.calls,
    received: (message) => {
      inFlight.set(keyOf(message), message);
    },
    settled: (message) => {
      inFlight.delete(keyOf(message));
      const { batchId } = message;
      if (![...inFlight.values()].some((other) => other.batchId === batchId))
        claims.delete(batchId);
    },
    claimed: ({ batchId, attempt }) => {
      claims.set(batchId, attempt);
    },
    suspect: options.suspect,
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
  const stall = stallOf(child);
  const ended = endOf(child).then(async (end): Promise<WorkerEnd> => {
    gone.abort();
    channel.close();
    served.close();
    const late = clock.sleep(outputMs).then(() => null);
    return { ...end, stall: await Promise.race([stall, late]), isSilent };
  });

  const watch = async () => {
    while (!gone.signal.aborted) {
      await clock.sleep(checkMs, gone.signal);
      missed += 1;
      if (missed <= maxMissed) continue;
      isSilent = true;
      child.kill('SIGKILL');
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
    holder: setup.holder,
    inFlight,
    claims,
    started,
    ended,
    read: (message) => channel.call('read', message),
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
async function endOf(child: ChildProcess): Promise<Pick<WorkerEnd, 'code' | 'signal'>> {
  try {
    const [code, signal] = (await once(child, 'exit')) as [number | null, string | null];
    return { code, signal };
  } catch {
    return { code: null, signal: null };
  }
}

/**
 * Resolves with the report of a process that its main thread stalls. Null if it ends without a
 * report.
 */
async function stallOf(child: ChildProcess): Promise<StallReport | null> {
  const output = child.stdio[stallFd] as Readable | null | undefined;
  if (!output) return null;
  try {
    const report = await text(output);
    return report === '' ? null : (JSON.parse(report) as StallReport);
  } catch {
    return null;
  }
}
