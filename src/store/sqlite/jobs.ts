import { setImmediate as nextTurn } from 'node:timers/promises';
import { Fault } from '../../contract/fault.ts';
import type { Batch } from '../batches.ts';
import { inChunks } from '../chunks.ts';
import type { Job, JobState } from '../documents.ts';
import {
  awaitsDecision,
  dueAfterClaim,
  dueOnEntry,
  maxDueMs,
  openStates,
  passingStates,
} from '../job-states.ts';
import type { JobNoticeStore } from '../notices.ts';
import { deletedFault, removedFault } from '../removed-job-fault.ts';
import type { JobStore } from '../store.ts';
import { columnOf, toColumn } from './collection.ts';
import type { SqliteConnection, Value } from './connection.ts';
import { isDuplicate, type SqliteEngine } from './engine.ts';
import { readNewest, type SqlCondition } from './paging.ts';
import { removeJob, visible } from './remove-job.ts';
import { batches, jobs } from './shapes.ts';

/** Batches written per transaction, which blocks the process for some ten milliseconds. */
const chunkSize = 50;

/** Used by most calls. */
const jobById = `SELECT ${jobs.select} FROM jobs WHERE id = ? AND ${visible}`;
const jobByNumber = `SELECT ${jobs.select} FROM jobs WHERE number = CAST(? AS INTEGER) AND ${visible}`;

/**
 * Creates the SQLite implementation of JobStore. A job that is being written has a row in the hidden state
 * `writing`, so that batches always have a job and leftovers of a crash are easy to find. Writing a job and
 * moving it to a passing state do not wait for the disk: the transition that is acknowledged next does, and
 * makes all earlier writes durable.
 */
export function jobStore(engine: SqliteEngine): JobStore & JobNoticeStore {
  const { relaxed } = engine;
  const stateOf = (jobId: string) =>
    relaxed.get<{ state: string }>('SELECT state FROM jobs WHERE id = ?', jobId)?.state;

  return {
    create: async (job, source) => {
      if (!openDraft(relaxed, job)) return;
      let written = 0;
      for (const chunk of inChunks(source, chunkSize)) {
        const writing = relaxed.write(() => {
          if (stateOf(job.id) !== 'writing') return false;
          for (const batch of chunk) insertBatch(relaxed, batch);
          return true;
        });
        if (!writing) break;
        written += chunk.length;
        await nextTurn();
      }
      relaxed.write(() => completeDraft(relaxed, job, written));
    },

    discard: async (jobId) => (await removeJob(engine, engine, jobId, 'discarding')) !== null,

    get: async (jobId) => engine.cache.document(jobs, jobById, jobId),

    getByNumber: async (number) => engine.cache.document(jobs, jobByNumber, String(number)),

    list: async (filter, page) => {
      const { userId, userIds, kind, market, mode, states, name, retryOf, rereadOf } = filter;
      const terms: [string, Value | undefined][] = [
        ['user_id = ?', userId],
        ['user_id IN (SELECT value FROM json_each(?))', userIds && JSON.stringify(userIds)],
        ['retry_of = ?', retryOf],
        ['reread_of = ?', rereadOf],
        ['kind = ?', kind],
        ['market = ?', market],
        ['mode = ?', mode],
        ['state IN (SELECT value FROM json_each(?))', states && JSON.stringify(states)],
        [`instr(fold(coalesce(options ->> '$.name', '')), ?)`, name?.toLowerCase()],
      ];
      const given = terms.filter((term): term is [string, Value] => term[1] !== undefined);
      const where: SqlCondition[] = [...given, [visible]];
      return readNewest(engine, { table: 'jobs', shape: jobs, where, order: ['createdAt', 'id'] }, page);
    },

    move: async (jobId, from, to, at, patch = {}) => {
      const fields = Object.entries({ ...patch, state: to, stateSince: at });
      const writer = passingStates.has(to) ? relaxed : engine;
      const isDecided = awaitsDecision(to);
      return writer.document(
        jobs,
        `UPDATE jobs SET ${fields.map(([field]) => `${columnOf(field)} = ?`).join(', ')},
           due_at = ${isDecided ? 'max(decide_by, ?)' : '?'}
           WHERE id = ? AND state IN (SELECT value FROM json_each(?)) RETURNING ${jobs.select}`,
        ...fields.map(([, value]) => toColumn(value)),
        isDecided ? at : dueOnEntry({ state: to, decideBy: null }, at),
        jobId,
        JSON.stringify(from),
      );
    },

    claimDue: async (now, limit, except = []) => {
      const sought = (columns: string) => `SELECT ${columns} FROM jobs
        WHERE due_at <= ? AND ${visible} AND state NOT IN (SELECT value FROM json_each(?))
        ORDER BY due_at, rowid LIMIT ?`;
      const excluded = JSON.stringify(except);
      // A read before the write, because the sweep looks often and seldom finds a job.
      if (limit <= 0 || engine.get(sought('1'), now, excluded, 1) === null) return [];
      return relaxed.write(() => {
        const due = relaxed.documents(jobs, sought(jobs.select), now, excluded, limit);
        return setDueTimes(relaxed, due, (job) => dueAfterClaim(job, now));
      });
    },

    repairDueTimes: async (now) =>
      relaxed.write(() => {
        const lost = relaxed.documents(
          jobs,
          `SELECT ${jobs.select} FROM jobs WHERE state IN (SELECT value FROM json_each(?))
             AND (due_at IS NULL AND (decide_by IS NOT NULL OR state <> 'awaiting_approval')
               OR due_at > ? AND state <> 'awaiting_approval')`,
          JSON.stringify(openStates),
          now + maxDueMs,
        );
        return setDueTimes(relaxed, lost, (job) => dueOnEntry(job, job.stateSince)).length;
      }),

    has: async (states) =>
      engine.get(
        'SELECT 1 FROM jobs WHERE state IN (SELECT value FROM json_each(?)) LIMIT 1',
        JSON.stringify(states),
      ) !== null,

    countByState: async (states) =>
      engine
        .all<{ kind: string; state: JobState; jobs: number }>(
          `SELECT kind, state, count(*) AS jobs FROM jobs WHERE state IN (SELECT value FROM json_each(?))
             AND mode = 'live'
           GROUP BY kind, state ORDER BY kind, state`,
          JSON.stringify(states),
        )
        .map((row) => ({ ...row })),

    findWithDueNotice: async (now, limit) =>
      engine.documents(
        jobs,
        `SELECT ${jobs.select} FROM jobs WHERE notice_at <= ? AND ${visible}
           ORDER BY notice_at, id LIMIT ?`,
        now,
        Math.max(0, limit),
      ),

    advanceNotice: async (jobId, reason, next) =>
      engine.run(
        'UPDATE jobs SET notice_due = ?, notice_at = ? WHERE id = ? AND notice_due = ?',
        next?.reason ?? null,
        next?.at ?? null,
        jobId,
        reason,
      ) === 1,

    decideHold: async (jobId, decision, at) =>
      engine.document(
        jobs,
        `UPDATE jobs SET hold = json_set(hold, '$.state', ?1, '$.decidedAt', ?2)
           ${decision === 'released' ? `, notice_due = 'released', notice_at = ?2` : ''}
         WHERE id = ?3 AND hold ->> '$.state' = 'held' AND ${visible} RETURNING ${jobs.select}`,
        decision,
        at,
        jobId,
      ),

    deleteOrphanedBatches: async (before) => {
      const left = engine.all<{ id: string; state: string }>(
        `SELECT id, state FROM jobs WHERE state = 'removing' OR (state = 'writing' AND created_at < ?)`,
        before,
      );
      let removed = 0;
      for (const { id, state } of left) removed += (await removeJob(relaxed, relaxed, id, state)) ?? 0;
      return removed;
    },
  };
}

/** Sets the due times of jobs and returns the changed jobs. Must run in a transaction. */
function setDueTimes(
  engine: SqliteConnection,
  found: readonly Job[],
  dueOf: (job: Job) => number | null,
): Job[] {
  const changed = found.map((job) => ({ ...job, dueAt: dueOf(job) }));
  for (const [dueAt, jobsOfTime] of Map.groupBy(changed, (job) => job.dueAt))
    engine.run(
      'UPDATE jobs SET due_at = ? WHERE id IN (SELECT value FROM json_each(?))',
      dueAt,
      JSON.stringify(jobsOfTime.map(({ id }) => id)),
    );
  return changed;
}

/** Inserts the row that batches belong to. Returns false if the job is already written. */
function openDraft(engine: SqliteConnection, job: Job): boolean {
  return engine.write(() => {
    const known = engine.get<{ state: string }>('SELECT state FROM jobs WHERE id = ?', job.id);
    if (known?.state === 'removing') throw removedFault(job.id);
    if (known) return known.state === 'writing';
    if (engine.get('SELECT 1 FROM deleted_jobs WHERE id = ?', job.id)) throw deletedFault(job.id);
    const values = jobs.values({ ...job, state: 'writing' as Job['state'], dueAt: null });
    try {
      engine.run(`INSERT INTO jobs (${jobs.columns}) VALUES (${jobs.marks})`, ...values);
    } catch (thrown) {
      if (isDuplicate(thrown))
        throw new Fault('conflict', `another job already has the number ${job.number}`);
      throw thrown;
    }
    return true;
  });
}

/** Turns the draft into a job, unless another call did. `written`: batches that must exist. */
function completeDraft(engine: SqliteConnection, job: Job, written: number): void {
  const { state, count } = engine.get<{ state: string | null; count: number }>(
    `SELECT (SELECT state FROM jobs WHERE id = ?1) AS state, count(*) AS count FROM batches WHERE job_id = ?1`,
    job.id,
  )!;
  if (state !== null && state !== 'writing' && state !== 'removing') return;
  // Deleted meanwhile, and perhaps started again by a call in progress.
  if (state !== 'writing' || count < written) throw removedFault(job.id);
  const columns = jobs.columns.split(', ').map((column) => `${column} = ?`);
  engine.run(`UPDATE jobs SET ${columns.join(', ')} WHERE id = ?`, ...jobs.values(job), job.id);
}

/** Stores a batch, unless one with its id or position exists. */
function insertBatch(engine: SqliteConnection, batch: Batch): void {
  const { units, ...row } = batch;
  const inserted = engine.run(
    `INSERT INTO batches (${batches.columns}) VALUES (${batches.marks}) ON CONFLICT DO NOTHING`,
    ...batches.values({ ...row, total: units.length }),
  );
  if (inserted === 0) return;
  engine.run('INSERT INTO batch_units (batch_id, units) VALUES (?, ?)', batch.id, JSON.stringify(units));
  for (const { key } of units) {
    engine.run(
      'INSERT INTO unit_keys (job_id, key, seq) VALUES (?, ?, ?) ON CONFLICT DO NOTHING',
      batch.jobId,
      key,
      batch.seq,
    );
  }
}
