import type { BatchWait, WaitStore } from '../waits.ts';
import type { Connection } from './connection.ts';

const columns = 'batch_id AS batchId, job_id AS jobId, since, until, reason, tries, failures';

/** Creates the SQLite implementation of WaitStore. */
export function waitStore(engine: Connection): WaitStore {
  return {
    putWait: async ({ batchId, jobId, since, until, reason, tries, failures }) => {
      engine.run(
        `INSERT OR REPLACE INTO waits (batch_id, job_id, since, until, reason, tries, failures)
         VALUES (?, ?, ?, ?, ?, ?, ?)`,
        batchId,
        jobId,
        since,
        until,
        reason,
        JSON.stringify(tries),
        failures,
      );
    },

    getWait: async (batchId) => {
      const row = engine.get<WaitRow>(`SELECT ${columns} FROM waits WHERE batch_id = ?`, batchId);
      return row && readWait(row);
    },

    listWaits: async (jobId, now) =>
      engine
        .all<WaitRow>(
          `SELECT ${columns} FROM waits WHERE job_id = ? AND until > ? ORDER BY until, batch_id`,
          jobId,
          now,
        )
        .map(readWait),

    deleteWait: async (batchId) => {
      engine.run('DELETE FROM waits WHERE batch_id = ?', batchId);
    },
  };
}

/** A row of `waits`. */
type WaitRow = Omit<BatchWait, 'tries'> & { tries: string };

function readWait(row: WaitRow): BatchWait {
  return { ...row, tries: JSON.parse(row.tries) as Record<number, number> };
}
