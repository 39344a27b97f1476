import type { JobContext } from '../jobs/context.ts';
import { work } from '../jobs/work.ts';
import type { Market } from '../markets/market.ts';
import type { Queue } from '../queue/queue.ts';
import type { BatchReference, Lane } from '../store/documents.ts';
import { createStorageGate } from './storage-gate.ts';
import { countingUnits, type WorkTally } from './tally.ts';
import { shareAmongUsers } from './user-share.ts';

/** A running worker. */
export interface Worker {
  /** What it does, kept up to date. */
  readonly tally: Readonly<WorkTally>;
  /** Takes no further batches, gives those under way back, and resolves when all have ended. */
  stop(): Promise<void>;
}

/** Hears of every message that is handled. */
export interface HandWatch {
  taken(message: BatchReference): void;
  left(message: BatchReference): void;
}

/** Single tasks have a lane of their own, so that bulk work never stands in front of them. */
const lanes: readonly Lane[] = ['single', 'bulk'];

/** Batches of a market under way at once in each lane, over all workers together. */
const batchesAtOnce: Record<Lane, number> = { single: 8, bulk: 8 };

/** Consumes every market's lanes until stopped. */
export async function startWorker(
  given: JobContext,
  markets: readonly Market[],
  watch?: HandWatch,
): Promise<Worker> {
  const stopping = new AbortController();
  const tally: WorkTally = { batches: 0, unitsDone: 0 };
  const storage = createStorageGate(given.blobs, given.clock, given.log);
  const context = { ...given, store: countingUnits(given.store, tally), blobs: storage.blobs };
  const counted: Parameters<Queue['consume']>[3] = async (message, extend) => {
    // A rejection puts the message back for a while, before its batch is claimed or a page is fetched.
    await storage.enter();
    tally.batches += 1;
    watch?.taken(message);
    try {
      await work(context, message, extend, stopping.signal);
    } finally {
      tally.batches -= 1;
      watch?.left(message);
    }
  };
  const consumers = await Promise.all(
    markets.flatMap(({ name, slots }) =>
      lanes.map((lane) => {
        const handle = slots ? shareAmongUsers(context, slots.perUser, counted, stopping.signal) : counted;
        return context.queue.consume(lane, name, slots?.total ?? batchesAtOnce[lane], handle);
      }),
    ),
  );
  return {
    tally,
    async stop() {
      stopping.abort(new Error('the worker is stopping'));
      await Promise.all(consumers.map((consumer) => consumer.stop()));
    },
  };
}
