import type { Filter } from 'mongodb';
import { readCursor, rowsToRead, toPage } from '../cursor.ts';
import {
  countsOf,
  type HistoryStore,
  type ItemChangeType,
  type TrackedItem,
  type TrackingRun,
} from '../history.ts';
import { unlessDuplicate } from './duplicates.ts';
import type { MongoEngine } from './engine.ts';
import { changesOf, observationId, observationsBetween } from './history-ids.ts';
import { ruleStore } from './rules.ts';
import type { ObservationDocument, Stored, TrackingRunDocument } from './schema.ts';
import { createSubstringPattern } from './search.ts';
import { withId, withUnderscore } from './shapes.ts';

const readRun = ({ _id, activeUser: _, ...run }: TrackingRunDocument): TrackingRun => ({
  jobId: _id,
  ...run,
});
const readObservation = ({ _id: _, ...observation }: ObservationDocument) => observation;

/** Creates the MongoDB implementation of HistoryStore. */
export function historyStore(engine: MongoEngine): HistoryStore {
  return { ...runStore(engine), ...itemStore(engine), ...historyReads(engine), ...ruleStore(engine) };
}

type RunMethods = Pick<
  HistoryStore,
  | 'createTrackingRun'
  | 'getTrackingRun'
  | 'claimTrackingRuns'
  | 'putRunProgress'
  | 'hasEarlierRun'
  | 'beginRun'
>;

function runStore(engine: MongoEngine): RunMethods {
  return {
    createTrackingRun: ({ jobId, ...run }) =>
      engine.run(
        async ({ trackingRuns }) =>
          (await unlessDuplicate(() => trackingRuns.insertOne({ _id: jobId, ...run }))) !== null,
      ),

    getTrackingRun: (jobId) =>
      engine.run(async ({ trackingRuns }) => {
        const found = await trackingRuns.findOne({ _id: jobId });
        return found && readRun(found);
      }),

    claimTrackingRuns: (now, leaseUntil, limit) =>
      engine.run(async ({ trackingRuns }) => {
        if (limit <= 0) return [];
        // $gt: 0 is required for the partial index.
        const due = await trackingRuns
          .find({ dueAt: { $gt: 0, $lte: now } }, { projection: { take: 1 } })
          .sort({ dueAt: 1, _id: 1 })
          .limit(limit)
          .toArray();
        const claimed = await Promise.all(
          due.map(({ _id, take }) =>
            trackingRuns.findOneAndUpdate(
              { _id, take, dueAt: { $gt: 0, $lte: now } },
              { $set: { dueAt: leaseUntil }, $inc: { take: 1 } },
              { returnDocument: 'after' },
            ),
          ),
        );
        return claimed
          .filter((run) => run !== null)
          .map(readRun)
          .sort((a, b) => a.at - b.at);
      }),

    putRunProgress: (jobId, take, { dueAt, turn, stage, nextBatch, counts, messages, doneAt }) =>
      engine.run(async ({ trackingRuns }) => {
        const which = { _id: jobId, take, stage: { $ne: 'done' as const } };
        const change = { dueAt, turn, stage, nextBatch, counts, messages, doneAt };
        const end = turn === 'active' ? {} : { $unset: { activeUser: true as const } };
        return (await trackingRuns.updateOne(which, { $set: change, ...end })).matchedCount === 1;
      }),

    hasEarlierRun: ({ userId, series, at, jobId }) =>
      engine.run(async ({ trackingRuns }) => {
        const counted: Filter<TrackingRunDocument>[] = [{ turn: { $in: ['waiting', 'active'] } }];
        if (series !== '') counted.push({ turn: 'failed', series });
        const earlier = [{ at: { $lt: at } }, { at, _id: { $lt: jobId } }];
        // $gt: 0 is required for the partial index.
        const which = { userId, dueAt: { $gt: 0 }, $and: [{ $or: counted }, { $or: earlier }] };
        return (await trackingRuns.findOne(which, { projection: { _id: 1 } })) !== null;
      }),

    beginRun: ({ jobId, userId, take }) =>
      engine.run(async ({ trackingRuns }) => {
        const which = { _id: jobId, take, stage: { $ne: 'done' as const } };
        const change = { turn: 'active', activeUser: userId } as const;
        const begun = await unlessDuplicate(() => trackingRuns.updateOne(which, { $set: change }));
        return begun?.matchedCount === 1;
      }),
  };
}

type ItemMethods = Pick<
  HistoryStore,
  'getTrackedItems' | 'putTrackedItems' | 'addObservations' | 'addChanges' | 'getChanges' | 'findAbsentItems'
>;

function itemStore(engine: MongoEngine): ItemMethods {
  return {
    getTrackedItems: (ids) =>
      engine.run(async ({ trackedItems }) =>
        (await trackedItems.find({ _id: { $in: [...ids] } }).toArray()).map(withId),
      ),

    putTrackedItems: (items) =>
      engine.run(async ({ trackedItems }) => {
        if (items.length === 0) return;
        const writes = items.map((item) => {
          const { _id, firstAt, ...change } = withUnderscore(item);
          const { seenAt, seenJob } = item;
          const isEarlier = [{ seenAt: { $lt: seenAt } }, { seenAt, seenJob: { $lte: seenJob } }];
          return {
            updateOne: {
              filter: { _id, $or: isEarlier },
              update: { $set: change, $setOnInsert: { firstAt } },
              upsert: true,
            },
          };
        });
        // A document with a later reading does not match, so that its upsert is a duplicate.
        await unlessDuplicate(() => trackedItems.bulkWrite(writes, { ordered: false }));
      }),

    addObservations: (added) =>
      engine.run(async ({ observations }) => {
        if (added.length === 0) return;
        const documents = added.map(({ observation }) => ({
          _id: observationId(observation),
          ...observation,
        }));
        await unlessDuplicate(() => observations.insertMany(documents, { ordered: false }));
        const ends = added.flatMap(({ observation, previous }) =>
          previous === null
            ? []
            : [
                {
                  updateOne: {
                    filter: { _id: observationId({ ...observation, ...previous }) },
                    update: { $set: { endedAt: observation.at } },
                  },
                },
              ],
        );
        if (ends.length > 0) await observations.bulkWrite(ends, { ordered: false });
      }),

    addChanges: (changes) =>
      engine.run(async ({ itemChanges }) => {
        if (changes.length === 0) return;
        await unlessDuplicate(() => itemChanges.insertMany(changes.map(withUnderscore), { ordered: false }));
      }),

    getChanges: (ids) =>
      engine.run(async ({ itemChanges }) =>
        (await itemChanges.find({ _id: { $in: [...ids] } }).toArray()).map(withId),
      ),

    findAbsentItems: (userId, series, sources, { jobId, before }, limit) =>
      engine.run(async ({ trackedItems }) => {
        if (series === '' || sources.length === 0) return [];
        const absent = trackedItems.find({
          userId,
          // $gt: '' is required for the partial index.
          series: { $eq: series, $gt: '' },
          source: { $in: [...sources] },
          seenJob: { $ne: jobId },
          seenAt: { $lt: before },
          isPresent: true,
        });
        return (await absent.sort({ _id: 1 }).limit(limit).toArray()).map(withId);
      }),
  };
}

type ReadMethods = Pick<
  HistoryStore,
  'listTrackedItems' | 'listObservations' | 'findObservation' | 'listChanges' | 'countChanges'
>;

function historyReads(engine: MongoEngine): ReadMethods {
  return {
    listTrackedItems: async (userId, series, { search, ...filter }, page) => {
      const { at, id } = readCursor(page);
      const pattern = search === undefined ? null : createSubstringPattern(search);
      const which: Filter<Stored<TrackedItem>> = {
        userId,
        series,
        ...filter,
        ...(pattern === null ? {} : { $and: [{ $or: [{ key: pattern }, { 'values.title': pattern }] }] }),
        $or: [{ changedAt: { $lt: at } }, { changedAt: at, _id: { $lt: id } }],
      };
      const found = await engine.run(({ trackedItems }) =>
        trackedItems.find(which).sort({ changedAt: -1, _id: -1 }).limit(rowsToRead(page)).toArray(),
      );
      return toPage(found.map(withId), page, (item) => ({ at: item.changedAt, id: item.id }));
    },

    listObservations: async (item, from, to, page) => {
      const which = observationsBetween(item, from, to);
      if (page.after) {
        const { at, id } = readCursor(page);
        const last = observationId({ ...item, at, jobId: id });
        if (last < which._id.$lt) which._id.$lt = last;
      }
      const found = await engine.run(({ observations }) =>
        observations.find(which).sort({ _id: -1 }).limit(rowsToRead(page)).toArray(),
      );
      return toPage(found.map(readObservation), page, ({ at, jobId }) => ({ at, id: jobId }));
    },

    findObservation: (item, before) =>
      engine.run(async ({ observations }) => {
        const which = observationsBetween(item, 0, before);
        const [found] = await observations.find(which).sort({ _id: -1 }).limit(1).toArray();
        return found ? readObservation(found) : null;
      }),

    listChanges: async (jobId, type, page) => {
      const { _id: range } = changesOf(jobId);
      const which = {
        _id: { ...range, $gt: page.after ? readCursor(page).id : range.$gt },
        ...(type === null ? {} : { type }),
      };
      const found = await engine.run(({ itemChanges }) =>
        itemChanges.find(which).sort({ _id: 1 }).limit(rowsToRead(page)).toArray(),
      );
      return toPage(found.map(withId), page, ({ at, id }) => ({ at, id }));
    },

    countChanges: (jobId) =>
      engine.run(async ({ itemChanges }) => {
        const groups = await itemChanges
          .aggregate<{ _id: ItemChangeType; changes: number }>([
            { $match: changesOf(jobId) },
            { $group: { _id: '$type', changes: { $sum: 1 } } },
          ])
          .toArray();
        return countsOf(groups.map(({ _id, changes }) => [_id, changes]));
      }),
  };
}
