import type { Filter } from 'mongodb';
import { declarations } from '../collections.ts';
import type { Cursor } from '../cursor.ts';
import type { FileRetention } from '../retention.ts';
import { writeDocument } from './collection.ts';
import { removeJob } from './create-job.ts';
import { unlessDuplicate } from './duplicates.ts';
import type { MongoEngine } from './engine.ts';
import { visible } from './jobs.ts';
import type { JobDocument, MongoCollections } from './schema.ts';
import { readJob } from './shapes.ts';

/** Jobs that have ended and that readers see. */
const ended = { ...visible, finishedAt: { $ne: null } };

/** Matches jobs that follow a place in the order of a time and the id; with null every job. */
function following(time: 'finishedAt' | 'pagesUntil', after: Cursor | null): Filter<JobDocument> {
  if (after === null) return {};
  return { $or: [{ [time]: { $gt: after.at } }, { [time]: after.at, _id: { $gt: after.id } }] };
}

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

    findEnded: (before, which, limit, after = null) =>
      engine.run(async ({ jobs }) => {
        const found = jobs.find({
          ...(which === 'all' ? {} : { filesDeletedAt: null }),
          ...(which === 'test_with_files' ? { mode: 'test' as const } : {}),
          finishedAt: { $lt: before },
          $and: [visible, following('finishedAt', after)],
        });
        return (await found.sort({ finishedAt: 1, _id: 1 }).limit(limit).toArray()).map(readJob);
      }),

    findExpiredPages: (now, limit, after = null) =>
      engine.run(async ({ jobs }) => {
        const found = jobs.find({
          ...ended,
          $and: [{ pagesUntil: { $gt: 0, $lte: now } }, following('pagesUntil', after)],
        });
        return (await found.sort({ pagesUntil: 1, _id: 1 }).limit(limit).toArray()).map(readJob);
      }),

    finishPageDeletion: (jobId) =>
      engine.run(async ({ jobs }) => {
        await jobs.updateOne({ _id: jobId }, { $set: { pagesUntil: null } });
      }),

    sumPageBytes: (userId) =>
      engine.run(async ({ jobs, batches }) => {
        const found = await jobs
          .find({ userId, pagesUntil: { $gt: 0 }, filesDeletedAt: null }, { projection: { _id: 1 } })
          .toArray();
        return sumOf(
          batches,
          found.map(({ _id }) => _id),
          '$pages.bytes',
        );
      }),

    sumStoredBytes: (userId) =>
      engine.run(async ({ jobs, batches }) => {
        const found = await jobs
          .find({ userId, filesDeletedAt: null }, { projection: { 'file.bytes': 1 } })
          .toArray();
        const merged = found.reduce((sum, { file }) => sum + (file?.bytes ?? 0), 0);
        return (
          merged +
          (await sumOf(
            batches,
            found.map(({ _id }) => _id),
            '$storedBytes',
          ))
        );
      }),

    // The summary is written first: a job that is still visible is audited as such.
    delete: (summary) =>
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

/** Sums a field of the batches of some jobs. */
async function sumOf(
  batches: MongoCollections['batches'],
  jobIds: readonly string[],
  field: string,
): Promise<number> {
  const [row] = await batches
    .aggregate<{ sum: number }>([
      { $match: { jobId: { $in: jobIds } } },
      { $group: { _id: null, sum: { $sum: field } } },
    ])
    .toArray();
  return row?.sum ?? 0;
}
