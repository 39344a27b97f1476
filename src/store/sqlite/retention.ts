import { deletedUserName, type EndedJobs, type RetentionStore } from '../retention.ts';
import type { SqliteEngine } from './engine.ts';
import { placeOf } from './jobs.ts';
import { type Condition, readNewest } from './paging.ts';
import { finishRemoval, visible } from './removing.ts';
import { deletedJobs, jobs, users } from './shapes.ts';

/** Statements that erase up to ?2 records of a user. Those that update skip records without personal data. */
const erasures = [
  'DELETE FROM sessions WHERE hash IN (SELECT hash FROM sessions WHERE user_id = ?1 LIMIT ?2)',
  'DELETE FROM api_keys WHERE id IN (SELECT id FROM api_keys WHERE user_id = ?1 LIMIT ?2)',
  'DELETE FROM webhooks WHERE user_id IN (SELECT user_id FROM webhooks WHERE user_id = ?1 LIMIT ?2)',
  'DELETE FROM deliveries WHERE id IN (SELECT id FROM deliveries WHERE user_id = ?1 LIMIT ?2)',
  'DELETE FROM destinations WHERE id IN (SELECT id FROM destinations WHERE user_id = ?1 LIMIT ?2)',
  'DELETE FROM rules WHERE id IN (SELECT id FROM rules WHERE user_id = ?1 LIMIT ?2)',
  'DELETE FROM tracked_items WHERE id IN (SELECT id FROM tracked_items WHERE user_id = ?1 LIMIT ?2)',
  `DELETE FROM observations WHERE (user_id, market, region, key, at, job_id) IN
     (SELECT user_id, market, region, key, at, job_id FROM observations WHERE user_id = ?1 LIMIT ?2)`,
  `DELETE FROM item_changes WHERE id IN
     (SELECT c.id FROM tracking_runs AS r JOIN item_changes AS c ON c.id > r.job_id || '/' AND c.id < r.job_id || '0'
      WHERE r.user_id = ?1 LIMIT ?2)`,
  // After the changes, which are found by their run.
  `DELETE FROM tracking_runs WHERE job_id IN
     (SELECT job_id FROM tracking_runs AS r WHERE user_id = ?1 AND NOT EXISTS
        (SELECT 1 FROM item_changes WHERE id > r.job_id || '/' AND id < r.job_id || '0') LIMIT ?2)`,
  `DELETE FROM submissions WHERE rowid IN (SELECT rowid FROM submissions WHERE user_id = ?1 LIMIT ?2)`,
  'DELETE FROM schedules WHERE id IN (SELECT id FROM schedules WHERE user_id = ?1 LIMIT ?2)',
  'DELETE FROM schedule_runs WHERE id IN (SELECT id FROM schedule_runs WHERE user_id = ?1 LIMIT ?2)',
  `UPDATE ledger SET note = ''
   WHERE key IN (SELECT key FROM ledger WHERE user_id = ?1 AND note <> '' LIMIT ?2)`,
  `UPDATE audit_log SET detail = '{}', source = '' WHERE id IN
     (SELECT id FROM audit_log WHERE actor_id = ?1 AND (detail <> '{}' OR source <> '') LIMIT ?2)`,
  `UPDATE audit_log SET detail = '{}'
   WHERE id IN (SELECT id FROM audit_log WHERE target = ?1 AND detail <> '{}' LIMIT ?2)`,
];

const endedJobs: Readonly<Record<EndedJobs, string>> = {
  all: '',
  with_files: 'AND files_deleted_at IS NULL',
  test_with_files: `AND files_deleted_at IS NULL AND mode = 'test'`,
};

/** Creates the SQLite implementation of RetentionStore. */
export function retentionStore(engine: SqliteEngine): RetentionStore {
  const { relaxed } = engine;
  return {
    markFilesDeleted: async (jobId, at) =>
      engine.document(
        jobs,
        `UPDATE jobs SET files_deleted_at = coalesce(files_deleted_at, ?), file_deletion_due = 1
         WHERE id = ? AND finished_at IS NOT NULL AND ${visible} RETURNING ${jobs.select}`,
        at,
        jobId,
      ),

    finishFileDeletion: async (jobId) => {
      relaxed.run('UPDATE jobs SET file_deletion_due = 0 WHERE id = ?', jobId);
    },

    findFileDeletions: async (limit, after = null) =>
      engine.documents(
        jobs,
        `SELECT ${jobs.select} FROM jobs WHERE file_deletion_due = 1 AND ${visible} AND id > ? ORDER BY id LIMIT ?`,
        after?.id ?? '',
        limit,
      ),

    findEndedJobs: async (before, which, limit, after = null) =>
      engine.documents(
        jobs,
        `SELECT ${jobs.select} FROM jobs WHERE finished_at < ? AND ${visible}
           ${endedJobs[which]} AND (finished_at, id) > (?, ?)
         ORDER BY finished_at, id LIMIT ?`,
        before,
        ...placeOf(after),
        limit,
      ),

    sumStoredBytes: async (userId) =>
      engine.get<{ bytes: number }>(
        `SELECT coalesce(sum(coalesce(file ->> 'bytes', 0)
           + (SELECT coalesce(sum(stored_bytes), 0) FROM batches WHERE job_id = jobs.id)), 0) AS bytes
         FROM jobs WHERE user_id = ? AND files_deleted_at IS NULL`,
        userId,
      )!.bytes,

    deleteJob: async (summary) => {
      const isHidden = engine.write(() => {
        const hidden = engine.run(
          `UPDATE jobs SET state = 'removing', notice_at = NULL
           WHERE id = ? AND finished_at IS NOT NULL AND ${visible}`,
          summary.id,
        );
        if (hidden === 0) return false;
        engine.run(
          `INSERT INTO deleted_jobs (${deletedJobs.columns}) VALUES (${deletedJobs.marks}) ON CONFLICT DO NOTHING`,
          ...deletedJobs.values(summary),
        );
        return true;
      });
      if (isHidden) await finishRemoval(relaxed, summary.id);
      return isHidden;
    },

    getDeletedJob: async (jobId) =>
      engine.document(deletedJobs, `SELECT ${deletedJobs.select} FROM deleted_jobs WHERE id = ?`, jobId),

    listDeletedJobs: async (userId, page) => {
      const where: Condition[] = [['user_id = ?', userId]];
      return readNewest(
        engine,
        { table: 'deleted_jobs', shape: deletedJobs, where, order: ['createdAt', 'id'] },
        page,
      );
    },

    markUserDeleted: async (id, at) =>
      engine.document(
        users,
        `UPDATE users SET name = ?1, email = '', deleted_at = coalesce(deleted_at, ?2),
           suspended_at = coalesce(suspended_at, ?2) WHERE id = ?3 RETURNING ${users.select}`,
        deletedUserName,
        at,
        id,
      ),

    findUserDeletions: async (limit) =>
      engine.documents(
        users,
        `SELECT ${users.select} FROM users WHERE deleted_at IS NOT NULL AND erased = 0 ORDER BY deleted_at, id LIMIT ?`,
        limit,
      ),

    eraseUserRecords: async (userId, limit) =>
      erasures.reduce((erased, sql) => erased + relaxed.run(sql, userId, limit), 0),

    markUserErased: async (id) => {
      engine.run('UPDATE users SET erased = 1 WHERE id = ? AND deleted_at IS NOT NULL', id);
    },
  };
}
