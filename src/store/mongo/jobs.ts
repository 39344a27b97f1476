import type { Filter } from 'mongodb';
import type { Job, JobState, Mode } from '../documents.ts';
import { awaitsDecision, dueOnEntry } from '../job-states.ts';
import type { JobNoticeStore } from '../notices.ts';
import type { JobStore } from '../store.ts';
import { createJob, removeJob } from './create-job.ts';
import { claimDueJobs, repairDueTimes } from './due-jobs.ts';
import type { MongoEngine } from './engine.ts';
import { olderThan, readNewest } from './paging.ts';
import { hiddenStates, type JobDocument } from './schema.ts';
import { createSubstringPattern } from './search.ts';
import { readJob } from './shapes.ts';

/** Jobs that readers may see. */
export const visible = { state: { $nin: [...hiddenStates] } };

/** Matches the jobs of a mode, or every job. */
const ofMode = (mode: Mode | undefined): Filter<JobDocument> => (mode === undefined ? {} : { mode });

const read = (document: JobDocument | null): Job | null => document && readJob(document);

/** Jobs in MongoDB. How one is written and removed is in create-job.ts. */
export function jobStore(engine: MongoEngine): JobStore & JobNoticeStore {
  return {
    create: (job, source) => engine.run((collections) => createJob(collections, job, source)),

    discard: (jobId) =>
      engine.run(async (collections) => {
        return (await removeJob(collections, { _id: jobId, state: 'discarding' })) !== null;
      }),

    get: (jobId) => engine.run(async ({ jobs }) => read(await jobs.findOne({ _id: jobId, ...visible }))),

    getByNumber: (number) => engine.run(async ({ jobs }) => read(await jobs.findOne({ number, ...visible }))),

    list: ({ states, userIds, mode, name, ...filter }, page) => {
      const among: Filter<JobDocument> = states ? { state: { $in: [...states] } } : visible;
      const owners: Filter<JobDocument> = userIds ? { $and: [{ userId: { $in: [...userIds] } }] } : {};
      const named: Filter<JobDocument> = name ? { 'options.name': createSubstringPattern(name) } : {};
      const which = { ...owners, ...filter, ...ofMode(mode), ...named, ...among };
      return engine.run(({ jobs }) => readNewest(jobs.find({ ...which, ...olderThan(page) }), page, readJob));
    },

    move: (jobId, from, to, at, patch = {}) =>
      engine.run(async ({ jobs }) => {
        // The deadline of a job never changes.
        const deadline = { projection: { decideBy: 1 } } as const;
        const known = awaitsDecision(to) ? await jobs.findOne({ _id: jobId }, deadline) : null;
        const dueAt = dueOnEntry({ state: to, decideBy: known?.decideBy ?? null }, at);
        const change = { $set: { ...patch, state: to, stateSince: at, dueAt } };
        const which = { _id: jobId, state: { $in: [...from] } };
        return read(await jobs.findOneAndUpdate(which, change, { returnDocument: 'after' }));
      }),

    claimDue: (now, limit, except = []) => engine.run(({ jobs }) => claimDueJobs(jobs, now, limit, except)),

    repairDueTimes: (now) => engine.run(({ jobs }) => repairDueTimes(jobs, now)),

    has: (states) =>
      engine.run(
        async ({ jobs }) =>
          (await jobs.findOne({ state: { $in: [...states] } }, { projection: { _id: 1 } })) !== null,
      ),

    countByState: (states) =>
      engine.run(async ({ jobs }) => {
        const groups = await jobs
          .aggregate<{ _id: { kind: string; state: JobState }; jobs: number }>([
            { $match: { state: { $in: [...states] }, ...ofMode('live') } },
            { $group: { _id: { kind: '$kind', state: '$state' }, jobs: { $sum: 1 } } },
            { $sort: { '_id.kind': 1, '_id.state': 1 } },
          ])
          .toArray();
        return groups.map(({ _id, jobs: count }) => ({ ..._id, jobs: count }));
      }),

    findWithDueNotice: (now, limit) =>
      engine.run(async ({ jobs }) => {
        if (limit <= 0) return [];
        // $gt: 0 is required for the partial index.
        const due = { noticeAt: { $gt: 0, $lte: now }, ...visible };
        return (await jobs.find(due).sort({ noticeAt: 1, _id: 1 }).limit(limit).toArray()).map(readJob);
      }),

    advanceNotice: (jobId, reason, next) =>
      engine.run(async ({ jobs }) => {
        const change = { noticeDue: next?.reason ?? null, noticeAt: next?.at ?? null };
        return (await jobs.updateOne({ _id: jobId, noticeDue: reason }, { $set: change })).matchedCount === 1;
      }),

    decideHold: (jobId, decision, at) =>
      engine.run(async ({ jobs }) => {
        const notice = decision === 'released' ? { noticeDue: 'released' as const, noticeAt: at } : {};
        const found = await jobs.findOneAndUpdate(
          { _id: jobId, 'hold.state': 'held', ...visible },
          { $set: { 'hold.state': decision, 'hold.decidedAt': at, ...notice } },
          { returnDocument: 'after' },
        );
        return found && readJob(found);
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
        for (const { _id, state } of left) removed += (await removeJob(collections, { _id, state })) ?? 0;
        return removed;
      }),
  };
}
