import type { AuditFilter, AuditLogStore } from '../audit-log.ts';
import { readCursor, rowsToRead, toPage } from '../cursor.ts';
import type { SqliteEngine } from './engine.ts';
import { auditLog } from './shapes.ts';

/** Conditions of a filter, by its field. */
const conditions: readonly (readonly [keyof AuditFilter, string])[] = [
  ['actorId', 'actor_id = ?'],
  ['target', 'target = ?'],
  ['action', 'action = ?'],
  ['outcome', 'outcome = ?'],
  ['since', 'created_at >= ?'],
  ['until', 'created_at < ?'],
];

/** Creates the SQLite implementation of AuditLogStore. */
export function auditLogStore(engine: SqliteEngine): AuditLogStore {
  return {
    appendAuditEntry: async (entry) => {
      engine.run(
        `INSERT INTO audit_log (${auditLog.columns}) VALUES (${auditLog.marks})`,
        ...auditLog.values(entry),
      );
    },

    listAuditEntries: async (filter, page) => {
      const after = readCursor(page);
      const given = conditions.filter(([name]) => filter[name] !== undefined);
      const rows = engine.documents(
        auditLog,
        `SELECT ${auditLog.select} FROM audit_log
         WHERE ${given.map(([, condition]) => `${condition} AND `).join('')} (created_at, id) < (?, ?)
         ORDER BY created_at DESC, id DESC LIMIT ?`,
        ...given.map(([name]) => filter[name]!),
        after.at,
        after.id,
        rowsToRead(page),
      );
      return toPage(rows, page, ({ createdAt, id }) => ({ at: createdAt, id }));
    },
  };
}
