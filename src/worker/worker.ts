import { createBoundedMap } from '../base/bounded-map.ts';
import { Fault } from '../contract/fault.ts';
import type { JobContext } from '../jobs/context.ts';
import { deferBatch } from '../jobs/defer.ts';
import { work } from '../jobs/work.ts';
import type { Market } from '../markets/market.ts';
import type { Queue } from '../queue/queue.ts';
import type { BatchReference, Lane } from '../store/documents.ts';
import { createAdmission } from './admission.ts';
import { createMessageHold } from './hold.ts';
import { createStorageBreaker } from './storage-breaker.ts';
import { type WorkTally, withUnitCount } from './tally.ts';

type Handle = Parameters<Queue['consume']>[3];

/** A running worker. */
export interface Worker {
  /** What it does, kept up to date. */
  readonly tally: Readonly<WorkTally>;
  /** Takes no further batches, gives those under way back, and resolves when all have ended. */
  stop(): Promise<void>;
}

/** Hears of every message that is handled. */
export interface MessageObserver {
  taken(message: BatchReference): void;
  left(message: BatchReference): void;
}

/** Single tasks have a lane of their own, so that bulk work never stands in front of them. */
const lanes: readonly Lane[] = ['single', 'bulk'];

/** Messages of a market and lane in hand at once, over all workers: those that are worked on and those that wait here. */
const maxMessagesInFlight = 20_000;

/** Batches of one user that wait in a worker, by market and lane. Further ones are deferred. */
const maxWaitingPerUser = 2_000;

/** How long such a batch is deferred. */
const deferMs = 10_000;

/**
 * Wraps a handler so that batches of a market and lane begin as its regions and users have room (admission.ts). Those
 * that wait are not claimed: whatever happens to this process, another gets their messages.
 */
function admitting(context: JobContext, handle: Handle, signal: AbortSignal): (market: string) => Handle {
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
      const applicant = { userId, jobId, region, requests: Math.min(units, concurrency) };
      const leave =
        admission.tryEnter(applicant) ?? (await hold.during(extend, () => admission.wait(applicant, signal)));
      if (leave === null) return deferBatch(context, message, deferMs, signal);
      try {
        await handle(message, extend);
      } finally {
        leave();
      }
    };
  };
}

/** Consumes every market's lanes until stopped. */
export async function startWorker(
  given: JobContext,
  markets: readonly Market[],
  watch?: MessageObserver,
): Promise<Worker> {
  const stopping = new AbortController();
  const tally: WorkTally = { batches: 0, unitsDone: 0 };
  const storage = createStorageBreaker(given.blobs, given.clock, given.log);
  const context = { ...given, store: withUnitCount(given.store, tally), blobs: storage.blobs };
  const counted: Handle = async (message, extend) => {
    // A rejection puts the message back for a while, before its batch is claimed or a page is fetched.
    await storage.ready();
    tally.batches += 1;
    watch?.taken(message);
    try {
      await work(context, message, extend, stopping.signal);
    } finally {
      tally.batches -= 1;
      watch?.left(message);
    }
  };
  const admitted = admitting(context, counted, stopping.signal);
  const consumers = await Promise.all(
    markets.flatMap(({ name }) =>
      lanes.map((lane) => context.queue.consume(lane, name, maxMessagesInFlight, admitted(name))),
    ),
  );
  return {
    tally,
    async stop() {
      // The queue delivers the messages that wait to others.
      stopping.abort(new Fault('unavailable', 'the worker is stopping'));
      await Promise.all(consumers.map((consumer) => consumer.stop()));
    },
  };
}
