import type { Cutoffs, ExpiryStore } from '../expiry.ts';
import type { Connection } from './connection.ts';

/** Statements that delete the records beyond a cutoff. */
const deletions: Record<keyof Cutoffs, string> = {
  crawls: 'DELETE FROM crawls WHERE at < ?',
  maxCrawls: 'DELETE FROM crawls WHERE at <= (SELECT at FROM crawls ORDER BY at DESC LIMIT 1 OFFSET ?)',
  origins:
    'DELETE FROM origins WHERE next_free < ?1 AND held_until < ?1 AND paused_until < ?1 AND since < ?1',
  waits: 'DELETE FROM waits WHERE until < ?',
  processes: 'DELETE FROM processes WHERE seen_at < ?',
  originMinutes: 'DELETE FROM origin_minutes WHERE minute < ?',
  deliveries: 'DELETE FROM deliveries WHERE created_at < ?',
  sessions: 'DELETE FROM sessions WHERE expires_at < ?',
  auditLog: 'DELETE FROM audit_log WHERE created_at < ?',
};

/** Creates the SQLite implementation of ExpiryStore. */
export function expiryStore(engine: Connection): ExpiryStore {
  return {
    expire: async (cutoffs) => {
      let deleted = 0;
      for (const [name, cutoff] of Object.entries(cutoffs)) {
        deleted += engine.run(deletions[name as keyof Cutoffs], cutoff);
      }
      return deleted;
    },
  };
}
