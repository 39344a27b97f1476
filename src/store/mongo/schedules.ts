import type { Schedule, ScheduleStore } from '../schedules.ts';
import { unlessDuplicate } from './duplicates.ts';
import type { MongoEngine } from './engine.ts';
import { olderThan, readNewest } from './paging.ts';
import type { ScheduleDocument } from './schema.ts';
import { withId, withUnderscore } from './shapes.ts';

/** The request is read only where it is needed. */
const projection = { request: 0 } as const;

const read = (document: Omit<ScheduleDocument, 'request'>): Schedule => {
  const { options, ...schedule } = document;
  return { ...withId(schedule), options: JSON.parse(options) };
};

/** Converts a schedule for storage. Its options are text, because field names must not depend on the contract. */
export const writeSchedule = ({ options, ...schedule }: Schedule, request: string): ScheduleDocument => ({
  ...withUnderscore(schedule),
  options: JSON.stringify(options),
  request,
});

/** Creates the MongoDB implementation of ScheduleStore. */
export function scheduleStore(engine: MongoEngine): ScheduleStore {
  return {
    createSchedule: (schedule, request) =>
      engine.run(
        async ({ schedules }) =>
          (await unlessDuplicate(() => schedules.insertOne(writeSchedule(schedule, request)))) !== null,
      ),

    getSchedule: (id) =>
      engine.run(async ({ schedules }) => {
        const found = await schedules.findOne({ _id: id }, { projection });
        return found && read(found);
      }),

    getScheduleRequest: (id) =>
      engine.run(async ({ schedules }) => {
        const found = await schedules.findOne({ _id: id }, { projection: { request: 1, revision: 1 } });
        return found && { request: found.request, revision: found.revision };
      }),

    listSchedules: (filter, page) =>
      engine.run(({ schedules }) =>
        readNewest(schedules.find({ ...filter, ...olderThan(page) }, { projection }), page, read),
      ),

    countSchedules: (userId, max) =>
      engine.run(({ schedules }) => schedules.countDocuments({ userId }, { limit: max })),

    updateSchedule: (id, revision, { options, ...patch }) =>
      engine.run(async ({ schedules }) => {
        const text = options === undefined ? {} : { options: JSON.stringify(options) };
        const changed = await schedules.findOneAndUpdate(
          { _id: id, revision },
          { $set: { ...patch, ...text, revision: revision + 1 } },
          { returnDocument: 'after', projection },
        );
        return changed && read(changed);
      }),

    deleteSchedule: (id) =>
      engine.run(async ({ schedules, scheduleRuns }) => {
        const { deletedCount } = await schedules.deleteOne({ _id: id });
        await scheduleRuns.deleteMany({ scheduleId: id });
        return deletedCount === 1;
      }),

    findDueSchedules: (now, limit) =>
      engine.run(async ({ schedules }) => {
        if (limit <= 0) return [];
        // $gt: 0 is required for the partial index.
        const due = schedules.find({ dueAt: { $gt: 0, $lte: now } }, { projection });
        return (await due.sort({ dueAt: 1, _id: 1 }).limit(limit).toArray()).map(read);
      }),

    findSchedulesWithDueNotice: (now, limit) =>
      engine.run(async ({ schedules }) => {
        if (limit <= 0) return [];
        // $gt: 0 is required for the partial index.
        const due = schedules.find({ noticeAt: { $gt: 0, $lte: now } }, { projection });
        return (await due.sort({ noticeAt: 1, _id: 1 }).limit(limit).toArray()).map(read);
      }),

    advanceScheduleNotice: ({ id, stateSince, notice }, next) =>
      engine.run(async ({ schedules }) => {
        if (notice === null) return false;
        const change = { notice: next?.reason ?? null, noticeAt: next?.at ?? null };
        const { matchedCount } = await schedules.updateOne({ _id: id, stateSince, notice }, { $set: change });
        return matchedCount === 1;
      }),

    putScheduleRun: (run) =>
      engine.run(async ({ scheduleRuns }) => {
        const { _id, ...fields } = withUnderscore(run);
        // A run with the same or a later revision does not match, and its id makes the upsert a duplicate.
        const older = { _id, revision: { $lt: run.revision } };
        await unlessDuplicate(() => scheduleRuns.updateOne(older, { $set: fields }, { upsert: true }));
      }),

    getScheduleRun: (id) =>
      engine.run(async ({ scheduleRuns }) => {
        const found = await scheduleRuns.findOne({ _id: id });
        return found && withId(found);
      }),

    listScheduleRuns: (scheduleId, page) =>
      engine.run(({ scheduleRuns }) =>
        readNewest(scheduleRuns.find({ scheduleId, ...olderThan(page) }), page, withId),
      ),
  };
}
