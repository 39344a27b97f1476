import type { AuditFilter, AuditLogStore } from '../audit-log.ts';
import type { SqliteEngine } from './engine.ts';
import { type Condition, readNewest } from './paging.ts';
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
      const given = conditions.filter(([name]) => filter[name] !== undefined);
      const where = given.map(([name, condition]): Condition => [condition, filter[name]!]);
      return readNewest(
        engine,
        { table: 'audit_log', shape: auditLog, where, order: ['createdAt', 'id'] },
        page,
      );
    },
  };
}
