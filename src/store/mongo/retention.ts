import { declarations } from '../collections.ts';
import type { FileRetention } from '../retention.ts';
import { writeDocument } from './collection.ts';
import { removeJob } from './create-job.ts';
import { unlessDuplicate } from './duplicates.ts';
import type { MongoEngine } from './engine.ts';
import { following, visible } from './jobs.ts';
import { readJob } from './shapes.ts';

/** Jobs that have ended and that readers see. */
const ended = { ...visible, finishedAt: { $ne: null } };

/** Creates the MongoDB implementation of FileRetention. */
export function fileRetention(engine: MongoEngine): FileRetention {
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
        await unlessDuplicate(() =>
          collections.deletedJobs.insertOne(writeDocument(declarations.deletedJobs, summary)),
        );
        return (await removeJob(collections, which)) !== null;
      }),
  };
}
