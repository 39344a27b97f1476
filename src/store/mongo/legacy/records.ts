import type { Batch } from '../../documents.ts';
import type { LegacyRecordStore } from '../../store.ts';
import type { MongoEngine } from '../engine.ts';
import { readBatch } from '../shapes.ts';

/** Filter for all records of a batch: ids that start with `<batch id>/`. "0" is the character after "/". */
const ofBatch = (batchId: string) => ({ _id: { $gte: `${batchId}/`, $lt: `${batchId}0` } });

/** Returns the id of a record. */
export const legacyRecordId = (batchId: string, attempt: number, index: number) =>
  `${batchId}/${attempt}/${index}`;

/**
 * Creates the MongoDB implementation of LegacyRecordStore. Earlier versions stored records in the collection
 * `payloads`. Records of superseded attempts are deleted with the others.
 */
export function legacyRecordStore(engine: MongoEngine): LegacyRecordStore {
  return {
    readLegacyRecords: (batch: Batch) =>
      engine.run(async ({ payloads }) => {
        const ids = new Map<string, number>();
        for (const index of batch.units.keys()) {
          const outcome = batch.outcomes[index];
          if (outcome?.status === 'SUCCESS') ids.set(legacyRecordId(batch.id, outcome.attempt, index), index);
        }
        if (ids.size === 0) return new Map();
        const documents = await payloads.find({ _id: { $in: [...ids.keys()] } }).toArray();
        const found = documents.map(({ _id, body }): [number, Uint8Array] => [ids.get(_id)!, body.value()]);
        return new Map(found.sort(([one], [other]) => one - other));
      }),

    findLegacyBatches: (limit) =>
      engine.run(async ({ payloads, batches }) => {
        const found: Batch[] = [];
        let after = '';
        while (found.length < limit) {
          const next = await payloads.findOne(
            { _id: { $gt: after } },
            { projection: { _id: 1 }, sort: { _id: 1 } },
          );
          if (next === null) break;
          const batchId = next._id.slice(0, next._id.indexOf('/'));
          after = `${batchId}0`;
          const batch = await batches.findOne({ _id: batchId, state: 'done' });
          if (batch) found.push(readBatch(batch));
        }
        return found;
      }),

    migrateLegacyRecords: (batchId, part) =>
      engine.run(async ({ payloads, batches }) => {
        if (part) {
          await batches.updateOne(
            { _id: batchId, 'parts.path': { $ne: part.path } },
            { $push: { parts: part } },
          );
        }
        await payloads.deleteMany(ofBatch(batchId));
      }),
  };
}
