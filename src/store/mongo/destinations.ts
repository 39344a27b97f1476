import type { DestinationStore } from '../destinations.ts';
import { unlessDuplicate } from './duplicates.ts';
import type { MongoEngine } from './engine.ts';
import { readDestination, writeDestination } from './shapes.ts';

/** Creates the MongoDB implementation of DestinationStore. */
export function destinationStore(engine: MongoEngine): DestinationStore {
  return {
    createDestination: (destination) =>
      engine.run(
        async ({ destinations }) =>
          (await unlessDuplicate(() => destinations.insertOne(writeDestination(destination)))) !== null,
      ),

    putDestination: (destination) =>
      engine.run(async ({ destinations }) => {
        const { _id, ...fields } = writeDestination(destination);
        const which = { _id, revision: destination.revision - 1 };
        const updated = await unlessDuplicate(() => destinations.updateOne(which, { $set: fields }));
        return updated !== null && updated.matchedCount === 1;
      }),

    getDestination: (id) =>
      engine.run(async ({ destinations }) => {
        const found = await destinations.findOne({ _id: id });
        return found && readDestination(found);
      }),

    listDestinations: (userId) =>
      engine.run(async ({ destinations }) =>
        (await destinations.find({ userId }).sort({ name: 1 }).toArray()).map(readDestination),
      ),

    deleteDestination: (id, userId) =>
      engine.run(
        async ({ destinations }) => (await destinations.deleteOne({ _id: id, userId })).deletedCount === 1,
      ),

    findDestinationsByOtherKey: (secretsKey, limit) =>
      engine.run(async ({ destinations }) =>
        (
          await destinations
            .find({ secretsKey: { $ne: secretsKey } })
            .sort({ _id: 1 })
            .limit(limit)
            .toArray()
        ).map(readDestination),
      ),
  };
}
