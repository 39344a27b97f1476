import type { DriftRecord } from '../documents.ts';
import type { DriftStore } from '../store.ts';
import { unlessDuplicate } from './duplicates.ts';
import type { MongoEngine } from './engine.ts';
import type { DriftDocument } from './schema.ts';

/** Creates the MongoDB implementation of DriftStore. */
export function driftStore(engine: MongoEngine): DriftStore {
  return {
    getDrift: (market, page) =>
      engine.run(async ({ drift }) => {
        const document = await drift.findOne({ _id: driftId(market, page) });
        return document && readDrift(document);
      }),

    putDrift: (record) =>
      engine.run(async ({ drift }) => {
        const { market, page, revision, state } = record;
        const _id = driftId(market, page);
        if (revision === 1)
          return (await unlessDuplicate(() => drift.insertOne({ _id, ...record }))) !== null;
        const change = { $set: { revision, state } };
        return (await drift.updateOne({ _id, revision: revision - 1 }, change)).matchedCount === 1;
      }),

    listDrift: () =>
      engine.run(async ({ drift }) => (await drift.find().sort({ _id: 1 }).toArray()).map(readDrift)),
  };
}

/** Returns the id of a drift record. */
export const driftId = (market: string, page: string): string => `${market}/${page}`;

function readDrift({ market, page, revision, state }: DriftDocument): DriftRecord {
  return { market, page, revision, state };
}
