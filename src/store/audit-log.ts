import type { Collection, Condition } from './collection.ts';
import type { Page, PageOptions } from './cursor.ts';
import type { Role } from './documents.ts';

/**
 * An action of an operator or an account. Entries are never changed, except by eraseUserRecords(),
 * and deleted by expire().
 */
export interface AuditEntry {
  id: string;
  /** Time of the action. */
  createdAt: number;
  /** Id of the operator or user. */
  actorId: string;
  role: Role;
  /** Key that authenticated the call, itself or by a session. */
  keyId: string;
  /** Name of the method: "ApproveJob". */
  action: string;
  /** Id of the job, user, or key that the action was about. Empty if there is none. */
  target: string;
  /** The request as JSON text. */
  detail: string;
  /** Addresses that the call came from, the client's first, as in X-Forwarded-For. */
  source: string;
  /** "ok", or the code of the fault. */
  outcome: string;
}

/** Filter for listAuditEntries(). Absent fields match everything. */
export interface AuditFilter {
  actorId?: Condition<string>;
  target?: Condition<string>;
  action?: string;
  outcome?: string;
  /** Entries at this time or later. */
  since?: number;
  /** Entries before this time. */
  until?: number;
}

/** Lists entries, newest first. */
export function listAuditEntries(
  { auditLog }: { auditLog: Collection<AuditEntry> },
  { since = 0, until = Number.MAX_SAFE_INTEGER, ...filter }: AuditFilter,
  page: PageOptions,
): Promise<Page<AuditEntry>> {
  return auditLog.list({ ...filter, createdAt: { atLeast: since, below: until } }, page);
}
