import type { BatchWait, WaitStore } from '../waits.ts';
import { unlessDuplicate } from './duplicates.ts';
import type { MongoEngine } from './engine.ts';
import type { WaitDocument } from './schema.ts';

/** Creates the MongoDB implementation of WaitStore. */
export function waitStore(engine: MongoEngine): WaitStore {
  return {
    putWait: ({ batchId, tries, ...wait }) =>
      engine.run(async ({ waits }) => {
        const document = { ...wait, tries: JSON.stringify(tries) };
        // Of two concurrent upserts one may fail as a duplicate; its retry succeeds.
        const put = () => waits.updateOne({ _id: batchId }, { $set: document }, { upsert: true });
        if ((await unlessDuplicate(put())) === null) await put();
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
  // Earlier versions did not write `failures`.
  return {
    batchId: _id,
    ...wait,
    tries: JSON.parse(tries) as Record<number, number>,
    failures: failures ?? 0,
  };
}
