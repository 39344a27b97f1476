import { Fault } from '../../base/fault.ts';
import { newId } from '../../base/id.ts';
import type { Batch, Job } from '../documents.ts';
import { unlessDuplicate } from './engine.ts';
import type { Collections, JobDocument } from './schema.ts';
import { writeBatch, writeJob } from './shapes.ts';

/*
 * A job is written as a draft that no reader sees (state `writing`), then its batches, then the draft
 * becomes the job. Each draft has a name; batches carry the name of theirs. Removal first takes the
 * job away from its writers (state `removing`), then removes the batches of that draft, then the
 * document. So a writer that was overtaken by a removal cannot complete its draft, nor a later draft
 * of the same job, and a removal that was overtaken by a later draft does not touch its batches:
 * those that the later draft found there it takes over before it counts them.
 */

/** Batches that go to the server in one message: some 700 KB. */
const chunkSize = 100;

/** Keeps a job with its batches (JobStore.createJob). */
export async function createJob(collections: Collections, job: Job, source: Iterable<Batch>): Promise<void> {
  const { jobs, batches } = collections;
  const draft = await openDraft(jobs, job);
  if (draft === null) return;
  let written = 0;
  let fresh = true;
  for (const chunk of inChunks(source)) {
    const documents = chunk.map((batch) => writeBatch(batch, draft));
    if (!(await unlessDuplicate(batches.insertMany(documents, { ordered: false })))) fresh = false;
    written += chunk.length;
  }
  const jobId = job.id;
  if (!fresh) {
    await batches.updateMany({ jobId, draft: { $ne: draft } }, { $set: { draft } });
    if ((await batches.countDocuments({ jobId, draft })) < written) throw overtaken(jobId);
  }
  const completed = await jobs.replaceOne({ _id: jobId, draft, state: 'writing' }, writeJob(job, draft));
  if (completed.matchedCount === 1) return;
  const now = await jobs.findOne({ _id: jobId });
  if (now && now.state !== 'writing' && now.state !== 'removing') return;
  // What was written after the removal went through.
  await batches.deleteMany({ jobId, draft });
  throw overtaken(jobId);
}

/**
 * Removes a job in a state with its batches, or goes on with a removal; gives the number of batches,
 * null when there is no such job. It has no records: it was never dispatched.
 */
export async function removeJob(
  { jobs, batches }: Collections,
  which: { _id: string; state: JobDocument['state'] },
): Promise<number | null> {
  const job = await jobs.findOneAndUpdate(which, { $set: { state: 'removing' } });
  if (!job) return null;
  const { deletedCount } = await batches.deleteMany({ jobId: job._id, draft: job.draft });
  await jobs.deleteOne({ _id: job._id, state: 'removing', draft: job.draft });
  return deletedCount;
}

/** Begins a draft, or joins the one that is there; gives its name, null when the job is written already. */
async function openDraft(jobs: Collections['jobs'], job: Job): Promise<string | null> {
  const draft = newId();
  if (await unlessDuplicate(jobs.insertOne(writeJob(job, draft, 'writing')))) return draft;
  const known = await jobs.findOne({ _id: job.id });
  if (known?.state === 'writing') return known.draft;
  if (known?.state === 'removing') throw overtaken(job.id);
  if (known) return null;
  throw new Fault('conflict', `another job has the number ${job.number}`);
}

function overtaken(jobId: string): Fault {
  return new Fault('unavailable', `job ${jobId} was removed as abandoned while it was being written`);
}

function* inChunks(source: Iterable<Batch>): Iterable<Batch[]> {
  let chunk: Batch[] = [];
  for (const batch of source) {
    chunk.push(batch);
    if (chunk.length < chunkSize) continue;
    yield chunk;
    chunk = [];
  }
  if (chunk.length > 0) yield chunk;
}
