import type { BatchWait, WaitStore } from '../waits.ts';
import { type Engine, unlessDuplicate } from './engine.ts';
import type { WaitDocument } from './schema.ts';

/** Batches that wait, in MongoDB: a document each. */
export function waitStore(engine: Engine): WaitStore {
  return {
    putWait: ({ batchId, tries, ...wait }) =>
      engine.run(async ({ waits }) => {
        const document = { ...wait, tries: JSON.stringify(tries) };
        // Two upserts at once may both try to insert; the one that fails comes a moment too early.
        const keep = () => waits.updateOne({ _id: batchId }, { $set: document }, { upsert: true });
        if ((await unlessDuplicate(keep())) === null) await keep();
      }),

    getWait: (batchId) =>
      engine.run(async ({ waits }) => {
        const found = await waits.findOne({ _id: batchId });
        return found && readWait(found);
      }),

    listWaits: (jobId, now) =>
      engine.run(async ({ waits }) => {
        const found = await waits
          .find({ jobId, until: { $gt: now } })
          .sort({ until: 1, _id: 1 })
          .toArray();
        return found.map(readWait);
      }),

    deleteWait: (batchId) =>
      engine.run(async ({ waits }) => {
        await waits.deleteOne({ _id: batchId });
      }),
  };
}

function readWait({ _id, tries, failures, ...wait }: WaitDocument): BatchWait {
  // Waits of earlier versions have no failures.
  return {
    batchId: _id,
    ...wait,
    tries: JSON.parse(tries) as Record<number, number>,
    failures: failures ?? 0,
  };
}
