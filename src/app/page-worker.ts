import { systemClock } from '../base/clock.ts';
import { repeat } from '../base/due-work.ts';
import { anonymousMemoryBytes, releaseYoungGeneration } from '../base/heap-size.ts';
import { createIpcChannel, type IpcChannel } from '../base/ipc-channel.ts';
import { createLog } from '../base/log.ts';
import { Fault } from '../contract/fault.ts';
import { createJobChanges, type JobChanges } from '../jobs/job-events.ts';
import { markets } from '../markets/list.ts';
import { openRemoteQueue } from '../queue/local/remote.ts';
import type { BatchReference } from '../store/batches.ts';
import { sweepMs } from '../sweep/continue-jobs.ts';
import { flushDriftForever } from '../sweep/sweep.ts';
import { createMetricsRecorder } from '../telemetry/recorder.ts';
import {
  type ParentCalls,
  reportMs,
  type WorkerCalls,
  type WorkerSetup,
} from '../worker/protocol.ts';
import { startStallWatch } from '../worker/stall-watch.ts';
import { startWorker, type Worker } from '../worker/worker.ts';
import { compose } from './compose.ts';
import { programs } from './programs.ts';
import { startTracing } from './telemetry.ts';

/*
 * A worker process: processes batches for its parent (src/worker/pool.ts). It ends only with its
 * parent, because signals of a terminal reach both.
 */

/** Page cache of the embedded store: a worker reads little except what it has just written. */
const storeCacheBytes = 4 * 1024 ** 2;

/** State of this process. */
interface Running extends Pick<Worker, 'read'> {
  stop(): Promise<void>;
}

let running: Running | null = null;
let stopped = false;

const remote = openRemoteQueue(() => parent);
const calls: WorkerCalls = {
  ...remote.calls,
  async start(setup) {
    running = await run(setup);
    releaseYoungGeneration();
  },
  async stop() {
    await running?.stop();
    stopped = true;
  },
  async read(message) {
    await running?.read(message);
  },
};
const parent: IpcChannel<ParentCalls> = createIpcChannel<ParentCalls, WorkerCalls>(
  {
    send: (message) => process.connected && process.send!(message, undefined, undefined, () => {}),
    receive: (listener) => process.on('message', listener),
  },
  calls,
);
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => {});
process.once('disconnect', () => process.exit(stopped ? 0 : 1));

/** Starts work and returns a function that stops it. */
async function run(setup: WorkerSetup): Promise<Running> {
  const { config, role, index, holder, publicUrl, measures, readsSuspects, clockOrigin } = setup;
  const stopping = new AbortController();
  const { signal } = stopping;
  const changes: JobChanges = {
    ...createJobChanges(systemClock),
    notify: (jobId) => parent.notify('changed', jobId),
  };
  const metrics = measures ? createMetricsRecorder() : null;
  const name = `${role} worker ${index}`;
  const tracing = await startTracing(config, name, createLog(config.logLevel, name));
  const program = await compose(config, name, () => publicUrl, {
    queue: remote.queue,
    changes,
    storeCacheBytes,
    readsPages: true,
    holder,
    clockOrigin,
    ...(metrics ? { metrics } : {}),
  });
  const { context, clock, requestCounter } = program;
  const watch = startStallWatch(programs.stallThread, (error) =>
    context.log.error({ error: Fault.from(error).message }, 'stall watch ended'),
  );
  const handOver = (message: BatchReference) => parent.notify('suspect', message);
  const guard = { begin: watch.begin, ...(readsSuspects ? {} : { handOver }) };
  const worker = await startWorker({ ...context, guard }, readsSuspects ? [] : markets, {
    received: (message) => parent.notify('received', message),
    settled: (message) => parent.notify('settled', message),
    claimed: (claim) => parent.notify('claimed', claim),
  });

  let reported = 0;
  const report = async () => {
    const { unitsDone } = worker.stats;
    parent.notify('report', {
      unitsDone: unitsDone - reported,
      memoryBytes: anonymousMemoryBytes(),
      requests: requestCounter.take(),
      ...(metrics ? { metrics: metrics.take() } : {}),
    });
    reported = unitsDone;
  };
  const onError = (error: unknown) =>
    context.log.warn({ error: Fault.from(error).message }, 'report not sent');
  const reporting = repeat(report, { clock, intervalMs: reportMs, onError }, signal);
  const flushing = flushDriftForever(context, sweepMs, signal);
  return {
    read: worker.read,
    async stop() {
      stopping.abort(new Error('the worker is stopping'));
      await Promise.all([worker.stop(), flushing, reporting]);
      await program.close();
      await tracing?.close();
      await report();
      await watch.stop();
    },
  };
}
