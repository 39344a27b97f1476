import type { Collections } from '../collections.ts';
import type { ScheduleStore } from '../schedules.ts';

/** Runs deleted per step. */
const chunkSize = 500;

/** Creates the store of schedules. */
export function scheduleStore({ schedules, scheduleRuns }: Collections): ScheduleStore {
  return {
    createSchedule: (schedule, request) => schedules.insert({ ...schedule, request }),
    getSchedule: (id) => schedules.get(id),
    getScheduleRequest: (id) => schedules.pick({ id }, ['request', 'revision']),
    listSchedules: (filter, page) => schedules.list(filter, page),
    countSchedules: (userId, max) => schedules.count({ userId }, max),
    updateSchedule: (id, revision, patch) =>
      schedules.update({ id, revision }, { ...patch, revision: revision + 1 }),

    deleteSchedule: async (id) => {
      const isDeleted = (await schedules.remove({ id })) === 1;
      while ((await scheduleRuns.remove({ scheduleId: id }, chunkSize)) === chunkSize);
      return isDeleted;
    },

    findDueSchedules: (now, limit) =>
      schedules.find({ dueAt: { atMost: now } }, { order: ['dueAt', 'id'], limit }),

    findSchedulesWithDueNotice: (now, limit) =>
      schedules.find({ noticeAt: { atMost: now } }, { order: ['noticeAt', 'id'], limit }),

    advanceScheduleNotice: async ({ id, stateSince, notice }, next) => {
      if (notice === null) return false;
      const change = { notice: next?.reason ?? null, noticeAt: next?.at ?? null };
      return (await schedules.update({ id, stateSince, notice }, change)) !== null;
    },

    putScheduleRun: (run) => scheduleRuns.upsert([run]),
    getScheduleRun: (id) => scheduleRuns.get(id),
    listScheduleRuns: (scheduleId, page) => scheduleRuns.list({ scheduleId }, page),
  };
}
