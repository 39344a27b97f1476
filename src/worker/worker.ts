import type { JobContext } from '../jobs/context.ts';
import { work } from '../jobs/work.ts';
import type { Market } from '../markets/market.ts';
import type { Lane } from '../store/documents.ts';

/** A running worker. */
export interface Worker {
  /** Takes no further batches, gives those under way back, and resolves when all have ended. */
  stop(): Promise<void>;
}

/** Single tasks have a lane of their own, so that bulk work never stands in front of them. */
const lanes: readonly Lane[] = ['single', 'bulk'];

/** Batches of a market under way at once in each lane, over all workers together. */
const batchesAtOnce: Record<Lane, number> = { single: 8, bulk: 8 };

/** Consumes every market's lanes until stopped. */
export async function startWorker(context: JobContext, markets: readonly Market[]): Promise<Worker> {
  const stopping = new AbortController();
  const consumers = await Promise.all(
    markets.flatMap(({ name }) =>
      lanes.map((lane) =>
        context.queue.consume(lane, name, batchesAtOnce[lane], (message, extend) =>
          work(context, message, extend, stopping.signal),
        ),
      ),
    ),
  );
  return {
    async stop() {
      stopping.abort(new Error('the worker is stopping'));
      await Promise.all(consumers.map((consumer) => consumer.stop()));
    },
  };
}
