import { createBoundedMap } from '../base/bounded-map.ts';
import type { Clock } from '../base/clock.ts';
import { Fault } from '../contract/fault.ts';
import type { JobContext } from '../jobs/context.ts';
import { sandboxQueue } from '../jobs/sandbox.ts';
import { postpone } from '../jobs/steps/release.ts';
import { type JobsOfMessages, work } from '../jobs/steps/work.ts';
import type { Market } from '../markets/market.ts';
import { inMessageSpan, type Queue } from '../queue/queue.ts';
import { type BatchReference, batchKey } from '../store/batches.ts';
import type { Job, Lane } from '../store/documents.ts';
import type { Store } from '../store/store.ts';
import { replaceMethods } from '../store/wrap.ts';
import { createAckExtender } from './ack-extender.ts';
import {
  type Admission,
  type Backlogs,
  createAdmission,
  createBacklogs,
  createBatchLimit,
} from './admission.ts';
import { createStorageBreaker } from './storage-breaker.ts';

/** Observer of the calls to the store that the work on batches repeats. */
interface BatchCallObserver {
  /** Called with the time that the store took to respond, in milliseconds. */
  responded(durationMs: number): void;
  /** Called with the attempt of each claim. */
  claimed(claim: { batchId: string; attempt: number }): void;
  /** Called with the number of units whose outcomes were written. */
  recorded(units: number): void;
}

/** Wraps a store to observe its responses. Failed calls, and rejected writes, are not observed. */
function observeBatches(store: Store, clock: Clock, observer: BatchCallObserver): Store {
  const { batches } = store;
  const timed = async <T>(call: Promise<T>): Promise<T> => {
    const startedAt = clock.steady();
    const response = await call;
    observer.responded(clock.steady() - startedAt);
    return response;
  };
  return replaceMethods(store, {
    batches: {
      claim: async (...claim) => {
        const batch = await timed(batches.claim(...claim));
        if (batch !== null) observer.claimed({ batchId: batch.id, attempt: batch.attempt });
        return batch;
      },
      update: (...update) => timed(batches.update(...update)),
      recordOutcomes: async (batch, attempt, write) => {
        const isWritten = await timed(batches.recordOutcomes(batch, attempt, write));
        if (isWritten) observer.recorded(Object.keys(write.outcomes).length);
        return isWritten;
      },
    },
  });
}

interface JobsInHand extends JobsOfMessages {
  /** Adds a message about a job, which is read once while the worker has messages about it. */
  add(message: BatchReference): void;
}

/** Memory of the fields of a job that have a fixed size, in bytes. */
const jobBytes = 2_048;

function createJobsInHand({ jobs }: Store): JobsInHand {
  const messages = new Map<string, Set<BatchReference>>();
  const running = createBoundedMap<Job>({
    maxBytes: 1024 ** 2,
    sizeOf: ({ params, options }) => jobBytes + 2 * JSON.stringify([params, options]).length,
  });
  return {
    add: (message) => {
      const { jobId } = message;
      messages.set(jobId, (messages.get(jobId) ?? new Set()).add(message));
    },
    leave: (message) => {
      const { jobId } = message;
      const ofJob = messages.get(jobId);
      ofJob?.delete(message);
      if (ofJob !== undefined && ofJob.size > 0) return false;
      messages.delete(jobId);
      running.delete(jobId);
      return true;
    },
    get: async (jobId) => {
      const runningJob = running.get(jobId);
      if (runningJob) return runningJob;
      const job = await jobs.get(jobId);
      if (job?.state === 'processing') running.set(jobId, job);
      return job;
    },
  };
}

/** Wraps page access so that requests for permits carry the backlog of their user. */
function withBacklogs(pages: JobContext['pages'], backlogs: Backlogs): JobContext['pages'] {
  return {
    ...pages,
    openSession: (market, region, signal, caller) => {
      const { owner } = caller;
      const counted = owner && { ...owner, backlog: backlogs.of(owner.userId) };
      return pages.openSession(
        market,
        region,
        signal,
        counted ? { ...caller, owner: counted } : caller,
      );
    },
  };
}

type Handle = Parameters<Queue['consume']>[3];

/** Counts of a worker's work. */
interface WorkStats {
  /** Batches in progress. */
  batches: number;
  /** Units completed since the start. */
  unitsDone: number;
}

/** A running worker. */
export interface Worker {
  /** Current counts. */
  readonly stats: Readonly<WorkStats>;
  /** Reads a batch without admission. */
  read(message: BatchReference): Promise<void>;
  /**
   * Stops consuming, releases the batches in progress, and resolves when all handlers have ended.
   */
  stop(): Promise<void>;
}

/** Observer of every message that is handled. */
export interface MessageObserver {
  received(message: BatchReference): void;
  settled(message: BatchReference): void;
  /** Called with the attempt of each claim. */
  claimed(claim: { batchId: string; attempt: number }): void;
}

/** Single tasks have their own lane, so that they never wait behind bulk work. */
const lanes: readonly Lane[] = ['single', 'bulk'];

/**
 * Maximum messages of a market and lane in flight across all workers: in progress or waiting for
 * admission.
 */
const maxMessagesInFlight = 20_000;

/**
 * Maximum batches of one user that wait in a worker for a region. Further batches are deferred.
 */
const maxWaitingPerUser = 2_000;

/** Delay of a deferred batch. */
const deferMs = 10_000;

/** Parameters of admitting(). */
interface AdmittingOptions {
  context: JobContext;
  handle: Handle;
  admissions: Readonly<Record<Lane, Admission>>;
  jobs: JobsInHand;
  backlogs: Backlogs;
  /** Aborts when the worker stops. */
  signal: AbortSignal;
}

/**
 * Wraps a handler so that a batch starts when its region, its user, and the process have room
 * (admission.ts). Waiting batches are not claimed: if this process ends, another one receives their
 * messages.
 */
function admitting(options: AdmittingOptions): (lane: Lane, market: string) => Handle {
  const { context, handle, admissions, jobs, backlogs, signal } = options;
  const { clock, pages } = context;
  const hold = createAckExtender(clock, signal);
  return (lane, market) => {
    const concurrency = pages.concurrency(market, '');
    const admission = admissions[lane];
    const admit = async (userId: string, message: BatchReference, extend: () => void) => {
      const { jobId, region, units } = message;
      const removeBacklog = backlogs.add(userId);
      try {
        const applicant = {
          userId,
          jobId,
          market,
          region,
          concurrency,
          requests: Math.min(units, concurrency),
          backlog: backlogs.of(userId),
        };
        const release =
          admission.tryAcquire(applicant) ??
          (await hold.during(extend, () => admission.wait(applicant, signal)));
        if (release === null) return await deferBatch(context, message, deferMs, signal);
        try {
          await handle(message, extend);
        } finally {
          release();
        }
      } finally {
        removeBacklog();
      }
    };
    return async (message, extend) => {
      jobs.add(message);
      try {
        const job = await jobs.get(message.jobId);
        if (job !== null) await admit(job.userId, message, extend);
      } finally {
        jobs.leave(message);
      }
    };
  };
}

/** Consumes the lanes of the markets, and of the sandbox if the service has one, until stopped. */
export async function startWorker(
  options: JobContext,
  markets: readonly Market[],
  watch?: MessageObserver,
): Promise<Worker> {
  const stopping = new AbortController();
  const stats: WorkStats = { batches: 0, unitsDone: 0 };
  const storage = createStorageBreaker(options);
  const backlogs = createBacklogs();
  const jobs = createJobsInHand(options.store);
  const limit = createBatchLimit({ clock: options.clock, onGrown: () => admissions.bulk.resume() });
  const admissions = {
    // A task is one unit, and its caller waits for it.
    single: createAdmission({ maxWaitingPerUser, allows: () => true }),
    bulk: createAdmission({ maxWaitingPerUser, allows: limit.allows }),
  };
  const store = observeBatches(options.store, options.clock, {
    responded: limit.observe,
    claimed: (claim) => watch?.claimed(claim),
    recorded: (units) => {
      stats.unitsDone += units;
    },
  });
  const context = {
    ...options,
    store,
    blobs: storage.blobs,
    pages: withBacklogs(options.pages, backlogs),
  };
  const counted: Handle = async (message, extend) => {
    stats.batches += 1;
    watch?.received(message);
    const endUrgent = message.lane === 'single' ? context.pages.beginUrgent() : () => {};
    try {
      await inMessageSpan(context.queue, message, () =>
        work(context, message, extend, stopping.signal, jobs),
      );
    } finally {
      endUrgent();
      stats.batches -= 1;
      watch?.settled(message);
    }
  };
  // A rejection delays the message before its batch is claimed or a page is fetched.
  const handle: Handle = (message, extend) => storage.during(() => counted(message, extend));
  const admitted = admitting({
    context,
    handle,
    admissions,
    jobs,
    backlogs,
    signal: stopping.signal,
  });
  const names = markets.map(({ name }) => name);
  if (names.length > 0 && options.settings.sandbox) names.push(sandboxQueue);
  const consumers = await Promise.all(
    names.flatMap((name) =>
      lanes.map((lane) =>
        context.queue.consume(lane, name, maxMessagesInFlight, admitted(lane, name)),
      ),
    ),
  );
  return {
    stats,
    async read(message) {
      jobs.add(message);
      try {
        await handle(message, () => {});
      } finally {
        jobs.leave(message);
      }
    },
    async stop() {
      // The queue redelivers waiting messages to other workers.
      stopping.abort(new Fault('unavailable', 'the worker is stopping'));
      await Promise.all(consumers.map((consumer) => consumer.stop()));
    },
  };
}

/**
 * Defers a batch for `ms` milliseconds without reading it, then publishes it. If this process has
 * stopped before, the sweep publishes it. The attempt is incremented, which voids other messages
 * about the batch.
 */
async function deferBatch(
  context: JobContext,
  message: BatchReference,
  ms: number,
  signal: AbortSignal,
): Promise<void> {
  const { store, clock } = context;
  const now = clock.steady();
  const batch = await store.batches.claim(batchKey(message), message.attempt, now, now + ms);
  if (batch !== null) await postpone(context, batch, message, ms, signal);
}
