import type { OperationsStore, OriginMinute } from '../operations.ts';
import { unlessDuplicate } from './duplicates.ts';
import type { MongoEngine } from './engine.ts';
import { withId, withUnderscore } from './shapes.ts';

/** Returns the id of the request counts of an origin. */
export const originMinuteId = ({ minute, origin, market, region }: OriginMinute): string =>
  JSON.stringify([minute, origin, market, region]);

/** Creates the MongoDB implementation of OperationsStore. */
export function operationsStore(engine: MongoEngine): OperationsStore {
  return {
    putProcess: (report) =>
      engine.run(async ({ processes }) => {
        const document = withUnderscore(report);
        // A duplicate is a concurrent, equally recent heartbeat.
        await unlessDuplicate(() => processes.replaceOne({ _id: document._id }, document, { upsert: true }));
      }),

    deleteProcess: (id) =>
      engine.run(async ({ processes }) => {
        await processes.deleteOne({ _id: id });
      }),

    listProcesses: (since) =>
      engine.run(async ({ processes }) => {
        const found = processes.find({ seenAt: { $gte: since } }).sort({ startedAt: 1, _id: 1 });
        return (await found.toArray()).map(withId);
      }),

    addOriginMinutes: (rows) =>
      engine.run(async ({ originMinutes }) => {
        for (const row of rows) {
          const { origin, market, region, minute, ...counts } = row;
          const _id = originMinuteId(row);
          const change = { $inc: counts, $setOnInsert: { origin, market, region, minute } };
          const add = () => unlessDuplicate(() => originMinutes.updateOne({ _id }, change, { upsert: true }));
          // Another process inserted the minute first.
          if ((await add()) === null) await originMinutes.updateOne({ _id }, { $inc: counts });
        }
      }),

    listOriginMinutes: (since) =>
      engine.run(async ({ originMinutes }) => {
        const order = { minute: 1, origin: 1, market: 1, region: 1 } as const;
        const found = originMinutes.find({ minute: { $gte: since } }, { projection: { _id: 0 } }).sort(order);
        return found.toArray();
      }),
  };
}
