import { setImmediate as nextTurn } from 'node:timers/promises';
import type { ScheduleRequest, ScheduleStore } from '../schedules.ts';
import type { SqliteEngine } from './engine.ts';
import { type Condition, readNewest } from './paging.ts';
import { columnOf, scheduleRuns, schedules, toColumn } from './shapes.ts';

/** Runs deleted per statement, which blocks the process for some milliseconds. */
const chunkSize = 500;

const newer = `INSERT INTO schedule_runs (${scheduleRuns.columns}) VALUES (${scheduleRuns.marks})
  ON CONFLICT (id) DO UPDATE SET (${scheduleRuns.columns}) =
    (${scheduleRuns.columns
      .split(', ')
      .map((column) => `excluded.${column}`)
      .join(', ')})
  WHERE excluded.revision > schedule_runs.revision`;

/** Creates the SQLite implementation of ScheduleStore. */
export function scheduleStore(engine: SqliteEngine): ScheduleStore {
  const { relaxed } = engine;
  return {
    createSchedule: async (schedule, request) =>
      engine.run(
        `INSERT INTO schedules (${schedules.columns}, request) VALUES (${schedules.marks}, ?) ON CONFLICT DO NOTHING`,
        ...schedules.values(schedule),
        request,
      ) === 1,

    getSchedule: async (id) =>
      engine.document(schedules, `SELECT ${schedules.select} FROM schedules WHERE id = ?`, id),

    getScheduleRequest: async (id) =>
      engine.get<ScheduleRequest>('SELECT request, revision FROM schedules WHERE id = ?', id) ?? null,

    listSchedules: async ({ userId, state }, page) => {
      const where: Condition[] = [];
      if (userId !== undefined) where.push(['user_id = ?', userId]);
      if (state !== undefined) where.push(['state = ?', state]);
      return readNewest(
        engine,
        { table: 'schedules', shape: schedules, where, order: ['createdAt', 'id'] },
        page,
      );
    },

    countSchedules: async (userId, max) =>
      engine.get<{ count: number }>(
        'SELECT count(*) AS count FROM (SELECT 1 FROM schedules WHERE user_id = ? LIMIT ?)',
        userId,
        max,
      )!.count,

    updateSchedule: async (id, revision, patch) => {
      const fields = Object.entries({ ...patch, revision: revision + 1 });
      return engine.document(
        schedules,
        `UPDATE schedules SET ${fields.map(([field]) => `${columnOf(field)} = ?`).join(', ')}
           WHERE id = ? AND revision = ? RETURNING ${schedules.select}`,
        ...fields.map(([, value]) => toColumn(value)),
        id,
        revision,
      );
    },

    deleteSchedule: async (id) => {
      const isDeleted = engine.run('DELETE FROM schedules WHERE id = ?', id) === 1;
      const sql = `DELETE FROM schedule_runs WHERE id IN
        (SELECT id FROM schedule_runs WHERE schedule_id = ? LIMIT ${chunkSize})`;
      while (relaxed.run(sql, id) === chunkSize) await nextTurn();
      return isDeleted;
    },

    findDueSchedules: async (now, limit) =>
      engine.documents(
        schedules,
        `SELECT ${schedules.select} FROM schedules WHERE due_at <= ? ORDER BY due_at, id LIMIT ?`,
        now,
        Math.max(0, limit),
      ),

    findSchedulesWithDueNotice: async (now, limit) =>
      engine.documents(
        schedules,
        `SELECT ${schedules.select} FROM schedules WHERE notice_at <= ? ORDER BY notice_at, id LIMIT ?`,
        now,
        Math.max(0, limit),
      ),

    advanceScheduleNotice: async ({ id, stateSince, notice }, next) =>
      engine.run(
        'UPDATE schedules SET notice = ?, notice_at = ? WHERE id = ? AND state_since = ? AND notice = ?',
        next?.reason ?? null,
        next?.at ?? null,
        id,
        stateSince,
        notice,
      ) === 1,

    putScheduleRun: async (run) => {
      engine.run(newer, ...scheduleRuns.values(run));
    },

    getScheduleRun: async (id) =>
      engine.document(scheduleRuns, `SELECT ${scheduleRuns.select} FROM schedule_runs WHERE id = ?`, id),

    listScheduleRuns: async (scheduleId, page) => {
      const where: Condition[] = [['schedule_id = ?', scheduleId]];
      return readNewest(
        engine,
        { table: 'schedule_runs', shape: scheduleRuns, where, order: ['createdAt', 'id'] },
        page,
      );
    },
  };
}
