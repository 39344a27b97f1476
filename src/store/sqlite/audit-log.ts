import type { AuditLogStore } from '../audit-log.ts';
import { readCursor, rowsToRead, toPage } from '../cursor.ts';
import type { SqliteEngine } from './engine.ts';
import { auditLog } from './shapes.ts';

/** Creates the SQLite implementation of AuditLogStore. */
export function auditLogStore(engine: SqliteEngine): AuditLogStore {
  return {
    appendAuditEntry: async (entry) => {
      engine.run(
        `INSERT INTO audit_log (${auditLog.columns}) VALUES (${auditLog.marks})`,
        ...auditLog.values(entry),
      );
    },

    listAuditEntries: async ({ actorId, target }, page) => {
      const after = readCursor(page);
      const rows = engine.documents(
        auditLog,
        `SELECT ${auditLog.select} FROM audit_log
         WHERE ${actorId === undefined ? '' : 'actor_id = ? AND '} ${target === undefined ? '' : 'target = ? AND '}
           (created_at, id) < (?, ?) ORDER BY created_at DESC, id DESC LIMIT ?`,
        ...[actorId, target].filter((value) => value !== undefined),
        after.at,
        after.id,
        rowsToRead(page),
      );
      return toPage(rows, page, ({ createdAt, id }) => ({ at: createdAt, id }));
    },
  };
}
