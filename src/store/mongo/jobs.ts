import type { Filter } from 'mongodb';
import { newId } from '../../base/id.ts';
import { Fault } from '../../contract/fault.ts';
import type { Batch } from '../batches.ts';
import { type Collection, inChunks } from '../collection.ts';
import { declarations } from '../collections.ts';
import type { Job } from '../documents.ts';
import { deletedFault, type JobStore, moveJob, removedFault } from '../jobs.ts';
import { writeDocument } from './documents.ts';
import { unlessDuplicate } from './duplicates.ts';
import type { MongoEngine } from './engine.ts';
import type { JobDocument, MongoCollections } from './schema.ts';
import { writeBatch, writeJob } from './shapes.ts';

/*
 * A job is first written as a draft, which no reader sees (state `writing`), then its batches are
 * written, then the draft becomes the job. Each draft has an id, which its batches store. A
 * deletion first hides the job from its writers (state `removing`), then deletes the batches of
 * that draft, then the job. So a writer cannot complete a draft, or a later draft of the same job,
 * that was deleted meanwhile. And a deletion does not touch the batches of a later draft, which
 * takes over the batches it finds before it counts them.
 */

/** Batches per message to the server: some 700 KB. */
const chunkSize = 100;

/** Jobs that have ended and that readers see. */
const ended = {
  state: { $nin: ['writing' as const, 'removing' as const] },
  finishedAt: { $ne: null },
};

/** Creates the MongoDB implementation of JobStore. */
export function jobStore(engine: MongoEngine, declared: Collection<Job>): JobStore {
  return {
    ...declared,

    create: (job, source) => engine.run((collections) => createJob(collections, job, source)),

    move: (...parameters) => moveJob(declared, parameters),

    delete: (jobId, summary) =>
      engine.run(async (collections) => {
        if (summary === null)
          return (await removeJob(collections, { _id: jobId, state: 'discarding' })) !== null;
        const which = { _id: jobId, ...ended };
        if ((await collections.jobs.findOne(which, { projection: { _id: 1 } })) === null)
          return false;
        // The summary is written first: a job that is still visible is audited as such.
        await unlessDuplicate(() =>
          collections.deletedJobs.insertOne(writeDocument(declarations.deletedJobs, summary)),
        );
        return (await removeJob(collections, which)) !== null;
      }),

    deleteOrphanedBatches: (before) =>
      engine.run(async (collections) => {
        const left = await collections.jobs
          .find(
            { $or: [{ state: 'removing' }, { state: 'writing', createdAt: { $lt: before } }] },
            { projection: { state: 1 } },
          )
          .toArray();
        let removed = 0;
        for (const { _id, state } of left)
          removed += (await removeJob(collections, { _id, state })) ?? 0;
        return removed;
      }),

    sumBytes: (userId, of) =>
      engine.run((collections) =>
        of === 'pages' ? sumPages(collections, userId) : sumResults(collections, userId),
      ),
  };
}

/**
 * Sums the bytes of the kept pages of a user. The counts of an ended job include those of its
 * pages.
 */
async function sumPages({ jobs, batches }: MongoCollections, userId: string): Promise<number> {
  const found = await jobs
    .find(
      { userId, filesDeletedAt: null, pagesUntil: { $gt: 0 } },
      { projection: { 'counts.pages.bytes': 1 } },
    )
    .toArray();
  const ended = found.reduce((sum, { counts }) => sum + (counts?.pages?.bytes ?? 0), 0);
  const open = found.filter(({ counts }) => counts?.pages === undefined);
  return ended + (await sumBatches(batches, open, '$pages.bytes'));
}

/** Sums the bytes of the results of a user. */
async function sumResults({ jobs, batches }: MongoCollections, userId: string): Promise<number> {
  const found = await jobs
    .find({ userId, filesDeletedAt: null }, { projection: { 'file.bytes': 1 } })
    .toArray();
  const merged = found.reduce((sum, { file }) => sum + (file?.bytes ?? 0), 0);
  return merged + (await sumBatches(batches, found, '$storedBytes'));
}

/** Sums a field of the batches of jobs. */
async function sumBatches(
  batches: MongoCollections['batches'],
  jobs: readonly Pick<JobDocument, '_id'>[],
  field: `$${string}`,
): Promise<number> {
  if (jobs.length === 0) return 0;
  const [row] = await batches
    .aggregate<{ sum: number }>([
      { $match: { jobId: { $in: jobs.map(({ _id }) => _id) } } },
      { $group: { _id: null, sum: { $sum: field } } },
    ])
    .toArray();
  return row?.sum ?? 0;
}

/** Writes a job and its batches (JobStore.create). */
export async function createJob(
  collections: MongoCollections,
  job: Job,
  source: Iterable<Batch>,
): Promise<void> {
  const { jobs, batches } = collections;
  const draft = await openDraft(collections, job);
  if (draft === null) return;
  let written = 0;
  let fresh = true;
  for (const chunk of inChunks(source, chunkSize)) {
    const documents = chunk.map((batch) => writeBatch(batch, draft));
    if (!(await unlessDuplicate(() => batches.insertMany(documents, { ordered: false }))))
      fresh = false;
    written += chunk.length;
  }
  const jobId = job.id;
  if (!fresh) {
    await batches.updateMany({ jobId, draft: { $ne: draft } }, { $set: { draft } });
    if ((await batches.countDocuments({ jobId, draft })) < written) throw removedFault(jobId);
  }
  const completed = await jobs.replaceOne(
    { _id: jobId, draft, state: 'writing' },
    writeJob(job, draft),
  );
  if (completed.matchedCount === 1) return;
  const now = await jobs.findOne({ _id: jobId });
  if (now && now.state !== 'writing' && now.state !== 'removing') return;
  // Batches that were written after the deletion.
  await batches.deleteMany({ jobId, draft });
  throw removedFault(jobId);
}

/**
 * Deletes a job that matches with its batches, or resumes a deletion. Returns the number of
 * batches, or null if there is no such job. Its files must be removed before.
 */
export async function removeJob(
  { jobs, batches, deliveries, itemChanges, trackingRuns }: MongoCollections,
  which: { _id: string } & Filter<JobDocument>,
): Promise<number | null> {
  const job = await jobs.findOneAndUpdate(which, {
    $set: { state: 'removing', dueAt: null, noticeAt: null },
  });
  if (!job) return null;
  const { deletedCount } = await batches.deleteMany({ jobId: job._id, draft: job.draft });
  await deliveries.deleteMany({ jobId: job._id });
  await itemChanges.deleteMany({ _id: { $gt: `${job._id}/`, $lt: `${job._id}0` } });
  await trackingRuns.deleteOne({ _id: job._id });
  await jobs.deleteOne({ _id: job._id, state: 'removing', draft: job.draft });
  return deletedCount;
}

/**
 * Creates a draft or joins the existing one. Returns its id, or null if the job is already written.
 */
async function openDraft(
  { jobs, deletedJobs }: MongoCollections,
  job: Job,
): Promise<string | null> {
  if ((await deletedJobs.countDocuments({ _id: job.id })) > 0) throw deletedFault(job.id);
  const draft = newId();
  if (await unlessDuplicate(() => jobs.insertOne(writeJob(job, draft, 'writing')))) return draft;
  const stored = await jobs.findOne({ _id: job.id });
  if (stored?.state === 'writing') return stored.draft;
  if (stored?.state === 'removing') throw removedFault(job.id);
  if (stored) return null;
  throw new Fault('conflict', `another job already has the number ${job.number}`);
}
