import { declarations } from '../collections.ts';
import type { Cursor } from '../cursor.ts';
import type { DeletedJob } from '../documents.ts';
import type { EndedJobs, FileRetention } from '../retention.ts';
import { mapRows } from './collection.ts';
import type { SqliteEngine } from './engine.ts';
import { finishRemoval, visible } from './remove-job.ts';
import { jobs } from './shapes.ts';

const deletedJobs = mapRows<DeletedJob>(declarations.deletedJobs);

const endedJobs: Readonly<Record<EndedJobs, string>> = {
  all: '',
  with_files: 'AND files_deleted_at IS NULL',
  test_with_files: `AND files_deleted_at IS NULL AND mode = 'test'`,
};

/** Values that the order of a list is compared with; without a position, those before every job. */
const placeOf = (after: Cursor | null): [number, string] =>
  after === null ? [Number.MIN_SAFE_INTEGER, ''] : [after.at, after.id];

/** Creates the SQLite implementation of FileRetention. */
export function fileRetention(engine: SqliteEngine): FileRetention {
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

    findEnded: async (before, which, limit, after = null) =>
      engine.documents(
        jobs,
        `SELECT ${jobs.select} FROM jobs WHERE finished_at < ? AND ${visible}
           ${endedJobs[which]} AND (finished_at, id) > (?, ?)
         ORDER BY finished_at, id LIMIT ?`,
        before,
        ...placeOf(after),
        limit,
      ),

    findExpiredPages: async (now, limit, after = null) =>
      engine.documents(
        jobs,
        `SELECT ${jobs.select} FROM jobs WHERE pages_until <= ? AND finished_at IS NOT NULL AND ${visible}
           AND (pages_until, id) > (?, ?)
         ORDER BY pages_until, id LIMIT ?`,
        now,
        ...placeOf(after),
        limit,
      ),

    finishPageDeletion: async (jobId) => {
      relaxed.run('UPDATE jobs SET pages_until = NULL WHERE id = ?', jobId);
    },

    sumPageBytes: async (userId) =>
      engine.get<{ bytes: number }>(
        `SELECT coalesce(sum(page_bytes), 0) AS bytes FROM batches WHERE job_id IN
           (SELECT id FROM jobs WHERE user_id = ? AND pages_until IS NOT NULL AND files_deleted_at IS NULL)`,
        userId,
      )!.bytes,

    sumStoredBytes: async (userId) =>
      engine.get<{ bytes: number }>(
        `SELECT coalesce(sum(coalesce(file ->> 'bytes', 0)
           + (SELECT coalesce(sum(stored_bytes), 0) FROM batches WHERE job_id = jobs.id)), 0) AS bytes
         FROM jobs WHERE user_id = ? AND files_deleted_at IS NULL`,
        userId,
      )!.bytes,

    delete: async (summary) => {
      const isHidden = engine.write(() => {
        const hidden = engine.run(
          `UPDATE jobs SET state = 'removing', due_at = NULL, notice_at = NULL
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
  };
}
