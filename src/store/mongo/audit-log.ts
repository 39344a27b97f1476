import type { AuditEntry, AuditLogStore } from '../audit-log.ts';
import { readCursor, rowsToRead, toPage } from '../cursor.ts';
import { unlessDuplicate } from './duplicates.ts';
import type { MongoEngine } from './engine.ts';
import { olderThan } from './paging.ts';
import { withId, withUnderscore } from './shapes.ts';

/** Creates the MongoDB implementation of AuditLogStore. */
export function auditLogStore(engine: MongoEngine): AuditLogStore {
  return {
    appendAuditEntry: (entry) =>
      engine.run(async ({ auditLog }) => {
        // A duplicate is an earlier attempt of this call.
        await unlessDuplicate(auditLog.insertOne(withUnderscore(entry)));
      }),

    listAuditEntries: async ({ since, until, ...filter }, page) => {
      const after = readCursor(page);
      const period = { $gte: since ?? 0, $lt: until ?? Number.MAX_SAFE_INTEGER };
      const documents = await engine.run(({ auditLog }) =>
        auditLog
          .find({ ...filter, createdAt: period, ...olderThan(after) })
          .sort({ createdAt: -1, _id: -1 })
          .limit(rowsToRead(page))
          .toArray(),
      );
      return toPage(
        documents.map((document): AuditEntry => withId(document)),
        page,
        ({ createdAt, id }) => ({ at: createdAt, id }),
      );
    },
  };
}
