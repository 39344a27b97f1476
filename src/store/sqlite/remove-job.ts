import { setImmediate as nextTurn } from 'node:timers/promises';
import type { SqliteConnection } from './connection.ts';

/** Condition of jobs that readers see: neither being written nor being removed. */
export const visible = `state NOT IN ('writing', 'removing')`;

/** Batches deleted per transaction. Each blocks the process for about 10 ms. */
const chunkSize = 50;
const keyChunkSize = 1_000;

/**
 * Hides a job in a state, then deletes its batches and the job, a few rows per transaction. In the state
 * `removing`, resumes a removal. Only the first write waits for the disk, with the connection `engine`.
 * Returns the number of batches, or null if there is no such job.
 */
export async function removeJob(
  engine: SqliteConnection,
  relaxed: SqliteConnection,
  jobId: string,
  state: string,
): Promise<number | null> {
  const hidden = engine.run(
    `UPDATE jobs SET state = 'removing', due_at = NULL, notice_at = NULL WHERE id = ? AND state = ?`,
    jobId,
    state,
  );
  return hidden === 0 ? null : finishRemoval(relaxed, jobId);
}

/** Deletes the batches of a hidden job, and the job. Returns the number of batches. */
export async function finishRemoval(relaxed: SqliteConnection, jobId: string): Promise<number> {
  const deleteAll = async (sql: string, size: number): Promise<number> => {
    let total = 0;
    for (;;) {
      const deleted = relaxed.run(sql, jobId, size);
      total += deleted;
      await nextTurn();
      if (deleted < size) return total;
    }
  };
  const batches = await deleteAll(
    'DELETE FROM batches WHERE id IN (SELECT id FROM batches WHERE job_id = ? LIMIT ?)',
    chunkSize,
  );
  await deleteAll(
    `DELETE FROM unit_keys WHERE job_id = ?1
     AND (key, seq) IN (SELECT key, seq FROM unit_keys WHERE job_id = ?1 LIMIT ?2)`,
    keyChunkSize,
  );
  await deleteAll(
    'DELETE FROM deliveries WHERE id IN (SELECT id FROM deliveries WHERE job_id = ? LIMIT ?)',
    keyChunkSize,
  );
  await deleteAll(
    `DELETE FROM item_changes WHERE id IN
       (SELECT id FROM item_changes WHERE id > ?1 || '/' AND id < ?1 || '0' LIMIT ?2)`,
    keyChunkSize,
  );
  relaxed.run('DELETE FROM tracking_runs WHERE job_id = ?', jobId);
  relaxed.run(`DELETE FROM jobs WHERE id = ? AND state = 'removing'`, jobId);
  return batches;
}
