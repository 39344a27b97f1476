import type { AuditEntry, AuditLogStore } from '../audit-log.ts';
import { unlessDuplicate } from './duplicates.ts';
import type { MongoEngine } from './engine.ts';
import { olderThan, readNewest } from './paging.ts';
import { withId, withUnderscore } from './shapes.ts';

/** Creates the MongoDB implementation of AuditLogStore. */
export function auditLogStore(engine: MongoEngine): AuditLogStore {
  return {
    appendAuditEntry: (entry) =>
      engine.run(async ({ auditLog }) => {
        // A duplicate is an earlier attempt of this call.
        await unlessDuplicate(() => auditLog.insertOne(withUnderscore(entry)));
      }),

    listAuditEntries: ({ since, until, ...filter }, page) => {
      const period = { $gte: since ?? 0, $lt: until ?? Number.MAX_SAFE_INTEGER };
      return engine.run(({ auditLog }) =>
        readNewest(
          auditLog.find({ ...filter, createdAt: period, ...olderThan(page) }),
          page,
          (document): AuditEntry => withId(document),
        ),
      );
    },
  };
}
