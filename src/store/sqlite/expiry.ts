import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Cutoffs, ExpiryStore } from '../expiry.ts';
import type { Connection } from './connection.ts';

/** Rows deleted per statement, which blocks the process for some milliseconds, and most statements per table and call. */
const chunkSize = 500;
const maxChunks = 200;

type Deletion = [table: string, key: string, condition: string];

/** Changes of expired runs, which are found by the run. */
const changes: Deletion = [
  'item_changes',
  'id',
  `id IN (SELECT c.id FROM tracking_runs AS r JOIN item_changes AS c
            ON c.id > r.job_id || '/' AND c.id < r.job_id || '0' WHERE r.done_at < ?1)`,
];

/** Tables, their keys, and conditions of the records beyond a cutoff. */
const deletions: Record<keyof Cutoffs, Deletion> = {
  crawls: ['crawls', 'key', 'at < ?1'],
  maxCrawls: ['crawls', 'key', 'at <= ?1'],
  origins: ['origins', 'origin', 'next_free < ?1 AND held_until < ?1 AND paused_until < ?1 AND since < ?1'],
  processes: ['processes', 'id', 'seen_at < ?1'],
  originMinutes: ['origin_minutes', '(minute, origin, market, region)', 'minute < ?1'],
  deliveries: ['deliveries', 'id', 'created_at < ?1'],
  sessions: ['sessions', 'hash', 'expires_at < ?1'],
  auditLog: ['audit_log', 'id', 'created_at < ?1'],
  scheduleRuns: ['schedule_runs', 'id', 'created_at < ?1'],
  observations: ['observations', '(user_id, market, region, key, at, job_id)', 'ended_at < ?1'],
  trackingRuns: ['tracking_runs', 'job_id', 'done_at < ?1'],
};

/** Creates the SQLite implementation of ExpiryStore. */
export function expiryStore(engine: Connection): ExpiryStore {
  return {
    expire: async (cutoffs) => {
      let deleted = 0;
      for (const [name, cutoff] of Object.entries(cutoffs) as [keyof Cutoffs, number][]) {
        const limit = name === 'maxCrawls' ? newestExcess(engine, cutoff) : cutoff;
        const steps = name === 'trackingRuns' ? [changes, deletions[name]] : [deletions[name]];
        for (const step of steps) {
          const { count, isDone } = await remove(engine, step, limit);
          deleted += count;
          if (!isDone) break;
        }
      }
      return deleted;
    },
  };
}

/** Deletes a bounded number of rows in bounded statements. Returns the number, and whether no other row is left. */
async function remove(
  engine: Connection,
  [table, key, condition]: Deletion,
  limit: number,
): Promise<{ count: number; isDone: boolean }> {
  const columns = key.replace(/[()]/g, '');
  const sql = `DELETE FROM ${table} WHERE ${key} IN (SELECT ${columns} FROM ${table} WHERE ${condition} LIMIT ${chunkSize})`;
  let count = 0;
  for (let chunk = 0; chunk < maxChunks; chunk++) {
    const removed = engine.run(sql, limit);
    count += removed;
    if (removed < chunkSize) return { count, isDone: true };
    await nextTurn();
  }
  return { count, isDone: false };
}

/** Returns the time of the newest page beyond the `max` newest ones; a time before every page if there is none. */
function newestExcess(engine: Connection, max: number): number {
  const sql = 'SELECT at FROM crawls ORDER BY at DESC LIMIT 1 OFFSET ?';
  return engine.get<{ at: number }>(sql, max)?.at ?? Number.MIN_SAFE_INTEGER;
}
