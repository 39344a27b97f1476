import { createBoundedMap } from '../base/bounded-map.ts';
import { Fault } from '../contract/fault.ts';
import type { JobContext, StoreUse } from '../jobs/context.ts';
import { sandboxQueue } from '../jobs/sandbox.ts';
import { postpone, type ReleaseContext } from '../jobs/steps/release.ts';
import { work } from '../jobs/steps/work.ts';
import type { Market } from '../markets/market.ts';
import type { Queue } from '../queue/queue.ts';
import type { BatchReference, Lane } from '../store/documents.ts';
import type { BatchStore } from '../store/store.ts';
import { createAdmission } from './admission.ts';
import { type Backlogs, createBacklogs, withBacklogs } from './backlogs.ts';
import { createMessageHold } from './hold.ts';
import { inMessageSpan } from './message-span.ts';
import { createStorageBreaker } from './storage-breaker.ts';

type Handle = Parameters<Queue['consume']>[3];

/** A running worker. */
export interface Worker {
  /** Current counts. */
  readonly tally: Readonly<WorkTally>;
  /** Stops consuming, releases the batches in progress, and resolves when all handlers have ended. */
  stop(): Promise<void>;
}

/** Observer of every message that is handled. */
export interface MessageObserver {
  received(message: BatchReference): void;
  settled(message: BatchReference): void;
}

/** Single tasks have their own lane, so that they never wait behind bulk work. */
const lanes: readonly Lane[] = ['single', 'bulk'];

/** Maximum messages of a market and lane in flight across all workers: in progress or waiting for admission. */
const maxMessagesInFlight = 20_000;

/** Maximum batches of one user that wait in a worker, by market and lane. Further batches are deferred. */
const maxWaitingPerUser = 2_000;

/** Delay of a deferred batch. */
const deferMs = 10_000;

/**
 * Wraps a handler so that batches of a market and lane start when their regions and users have room (admission.ts).
 * Waiting batches are not claimed: if this process ends, another one receives their messages.
 */
function admitting(
  context: JobContext,
  handle: Handle,
  backlogs: Backlogs,
  signal: AbortSignal,
): (market: string) => Handle {
  const { store, clock, pages } = context;
  const hold = createMessageHold(clock, signal);
  const users = createBoundedMap<string>({ maxBytes: 1024 ** 2, sizeOf: (userId) => userId.length });
  const userOf = async (jobId: string): Promise<string | undefined> => {
    const userId = users.get(jobId) ?? (await store.getJob(jobId))?.userId;
    if (userId !== undefined) users.set(jobId, userId);
    return userId;
  };
  return (market) => {
    const concurrency = pages.concurrency(market);
    const admission = createAdmission({ concurrency, maxWaitingPerUser });
    return async (message, extend) => {
      const { jobId, region, units } = message;
      const userId = await userOf(jobId);
      if (userId === undefined) return;
      const removeBacklog = backlogs.add(userId);
      try {
        const backlog = backlogs.of(userId);
        const applicant = { userId, jobId, region, requests: Math.min(units, concurrency), backlog };
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
  };
}

/** Consumes the lanes of every market, and of the sandbox if the service has one, until stopped. */
export async function startWorker(
  given: JobContext,
  markets: readonly Market[],
  watch?: MessageObserver,
): Promise<Worker> {
  const stopping = new AbortController();
  const tally: WorkTally = { batches: 0, unitsDone: 0 };
  const storage = createStorageBreaker(given);
  const backlogs = createBacklogs();
  const context = {
    ...given,
    store: withUnitCount(given.store, tally),
    blobs: storage.blobs,
    pages: withBacklogs(given.pages, backlogs),
  };
  const counted: Handle = async (message, extend) => {
    // A rejection delays the message before its batch is claimed or a page is fetched.
    await storage.ready();
    tally.batches += 1;
    watch?.received(message);
    const endUrgent = message.lane === 'single' ? context.pages.beginUrgent() : () => {};
    try {
      await inMessageSpan(context.queue, message, () => work(context, message, extend, stopping.signal));
    } finally {
      endUrgent();
      tally.batches -= 1;
      watch?.settled(message);
    }
  };
  const admitted = admitting(context, counted, backlogs, stopping.signal);
  const names = [...markets.map(({ name }) => name), ...(given.settings.sandbox ? [sandboxQueue] : [])];
  const consumers = await Promise.all(
    names.flatMap((name) =>
      lanes.map((lane) => context.queue.consume(lane, name, maxMessagesInFlight, admitted(name))),
    ),
  );
  return {
    tally,
    async stop() {
      // The queue redelivers waiting messages to other workers.
      stopping.abort(new Fault('unavailable', 'the worker is stopping'));
      await Promise.all(consumers.map((consumer) => consumer.stop()));
    },
  };
}

/** Dependencies of this module. */
type DeferContext = StoreUse<'claimBatch'> & ReleaseContext;

/**
 * Defers a batch for `ms` milliseconds without reading it, then publishes it. If this process has stopped by then, the
 * sweep publishes it. The attempt is incremented, which voids other messages about the batch.
 */
async function deferBatch(
  context: DeferContext,
  message: BatchReference,
  ms: number,
  signal: AbortSignal,
): Promise<void> {
  const { store, clock } = context;
  const now = clock.now();
  const batch = await store.claimBatch(message.batchId, message.attempt, now, now + ms);
  if (batch !== null) await postpone(context, batch, message, ms, signal);
}

/** Counts of a worker's work. */
interface WorkTally {
  /** Batches in progress. */
  batches: number;
  /** Units completed since the start. */
  unitsDone: number;
}

/** Wraps a store to count the units that it completes. Rejected writes do not count. */
function withUnitCount<S extends BatchStore>(store: S, tally: WorkTally): S {
  const count = (taken: boolean, outcomes: object) => {
    if (taken) tally.unitsDone += Object.keys(outcomes).length;
    return taken;
  };
  return {
    ...store,
    recordOutcomes: async (batchId, attempt, outcomes, part) =>
      count(await store.recordOutcomes(batchId, attempt, outcomes, part), outcomes),
    finishBatch: async (batchId, attempt, outcomes, part, file, now) =>
      count(await store.finishBatch(batchId, attempt, outcomes, part, file, now), outcomes),
  };
}
