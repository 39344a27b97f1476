import { deletedUserName, type RetentionStore } from '../retention.ts';
import { removeJob } from './creating.ts';
import { unlessDuplicate } from './duplicates.ts';
import type { MongoEngine } from './engine.ts';
import { changesOf, observationsOfUser } from './history-ids.ts';
import { following, visible } from './jobs.ts';
import { olderThan, readNewest } from './paging.ts';
import type { Collections } from './schema.ts';
import { readJob, readUser, withId, withUnderscore } from './shapes.ts';

/** Jobs that have ended and that readers see. */
const ended = { ...visible, finishedAt: { $ne: null } };

/** Creates the MongoDB implementation of RetentionStore. */
export function retentionStore(engine: MongoEngine): RetentionStore {
  return {
    markFilesDeleted: (jobId, at) =>
      engine.run(async ({ jobs }) => {
        const which = { _id: jobId, ...ended };
        await jobs.updateOne({ ...which, filesDeletedAt: null }, { $set: { filesDeletedAt: at } });
        const job = await jobs.findOneAndUpdate(
          which,
          { $set: { fileDeletionDue: true } },
          { returnDocument: 'after' },
        );
        return job && readJob(job);
      }),

    finishFileDeletion: (jobId) =>
      engine.run(async ({ jobs }) => {
        await jobs.updateOne({ _id: jobId }, { $set: { fileDeletionDue: false } });
      }),

    findFileDeletions: (limit, after = null) =>
      engine.run(async ({ jobs }) => {
        const due = { fileDeletionDue: true, ...visible, _id: { $gt: after?.id ?? '' } };
        return (await jobs.find(due).sort({ _id: 1 }).limit(limit).toArray()).map(readJob);
      }),

    findEndedJobs: (before, which, limit, after = null) =>
      engine.run(async ({ jobs }) => {
        const found = jobs.find({
          ...(which === 'all' ? {} : { filesDeletedAt: null }),
          ...(which === 'test_with_files' ? { mode: 'test' as const } : {}),
          finishedAt: { $lt: before },
          $and: [visible, following('finishedAt', after)],
        });
        return (await found.sort({ finishedAt: 1, _id: 1 }).limit(limit).toArray()).map(readJob);
      }),

    sumStoredBytes: (userId) =>
      engine.run(async ({ jobs, batches }) => {
        const found = await jobs
          .find({ userId, filesDeletedAt: null }, { projection: { 'file.bytes': 1 } })
          .toArray();
        const merged = found.reduce((sum, { file }) => sum + (file?.bytes ?? 0), 0);
        const [row] = await batches
          .aggregate<{ bytes: number }>([
            { $match: { jobId: { $in: found.map(({ _id }) => _id) } } },
            { $group: { _id: null, bytes: { $sum: '$storedBytes' } } },
          ])
          .toArray();
        return merged + (row?.bytes ?? 0);
      }),

    // The summary is written first: a job that is still visible is audited as such.
    deleteJob: (summary) =>
      engine.run(async (collections) => {
        const which = { _id: summary.id, ...ended };
        if ((await collections.jobs.findOne(which, { projection: { _id: 1 } })) === null) return false;
        await unlessDuplicate(() => collections.deletedJobs.insertOne(withUnderscore(summary)));
        return (await removeJob(collections, which)) !== null;
      }),

    getDeletedJob: (jobId) =>
      engine.run(async ({ deletedJobs }) => {
        const found = await deletedJobs.findOne({ _id: jobId });
        return found && withId(found);
      }),

    listDeletedJobs: (userId, page) =>
      engine.run(({ deletedJobs }) =>
        readNewest(deletedJobs.find({ userId, ...olderThan(page) }), page, withId),
      ),

    markUserDeleted: (id, at) =>
      engine.run(async ({ users }) => {
        const first = { name: deletedUserName, email: '', erased: false };
        await users.updateOne({ _id: id, deletedAt: null }, { $set: { ...first, deletedAt: at } });
        await users.updateOne({ _id: id, suspendedAt: null }, { $set: { suspendedAt: at } });
        const user = await users.findOne({ _id: id });
        return user && readUser(user);
      }),

    findUserDeletions: (limit) =>
      engine.run(async ({ users }) => {
        // $gt: 0 is required for the partial index.
        const found = users.find({ deletedAt: { $gt: 0 }, erased: { $ne: true } });
        return (await found.sort({ deletedAt: 1, _id: 1 }).limit(limit).toArray()).map(readUser);
      }),

    // MongoDB deletes document by document, so that no other call waits.
    eraseUserRecords: (userId) => engine.run((collections) => eraseRecords(collections, userId)),

    markUserErased: (id) =>
      engine.run(async ({ users }) => {
        await users.updateOne({ _id: id, deletedAt: { $gt: 0 } }, { $set: { erased: true } });
      }),
  };
}

/** Deletes the runs of a user, after the changes of each. */
async function eraseRuns({ trackingRuns, itemChanges }: Collections, userId: string) {
  const runs = await trackingRuns.find({ userId }, { projection: { _id: 1 } }).toArray();
  const deleted: { deletedCount: number }[] = [];
  for (const { _id } of runs) deleted.push(await itemChanges.deleteMany(changesOf(_id)));
  return [...deleted, await trackingRuns.deleteMany({ _id: { $in: runs.map(({ _id }) => _id) } })];
}

async function eraseRecords(collections: Collections, userId: string): Promise<number> {
  const { sessions, apiKeys, webhooks, deliveries, destinations, submissions, ledger, auditLog } =
    collections;
  const { rules, trackedItems, observations } = collections;
  const deletions = [
    await sessions.deleteMany({ userId }),
    await apiKeys.deleteMany({ userId }),
    await webhooks.deleteMany({ _id: userId }),
    await deliveries.deleteMany({ userId }),
    await destinations.deleteMany({ userId }),
    await submissions.deleteMany({ userId }),
    await collections.schedules.deleteMany({ userId }),
    await collections.scheduleRuns.deleteMany({ userId }),
    await rules.deleteMany({ userId }),
    await trackedItems.deleteMany({ userId }),
    await observations.deleteMany(observationsOfUser(userId)),
    ...(await eraseRuns(collections, userId)),
  ];
  const updates = [
    await ledger.updateMany({ userId, note: { $ne: '' } }, { $set: { note: '' } }),
    await auditLog.updateMany(
      { actorId: userId, $or: [{ detail: { $ne: '{}' } }, { source: { $ne: '' } }] },
      { $set: { detail: '{}', source: '' } },
    ),
    await auditLog.updateMany({ target: userId, detail: { $ne: '{}' } }, { $set: { detail: '{}' } }),
  ];
  return [
    ...deletions.map(({ deletedCount }) => deletedCount),
    ...updates.map(({ modifiedCount }) => modifiedCount),
  ].reduce((sum, count) => sum + count, 0);
}
