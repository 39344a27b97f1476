import { type DescMethod, getOption, type Message } from '@bufbuild/protobuf';
import { timestampFromMs, timestampMs } from '@bufbuild/protobuf/wkt';
import {
  type ExportAuditLogRequest,
  type ListAuditEntriesRequest,
  OperatorService,
} from '../../gen/gleaner/operator/v1/operator_pb.ts';
import { Scope, scope as scopeOption } from '../../gen/gleaner/options/v1/options_pb.ts';
import { createBoundedMap } from '../base/bounded-map.ts';
import { Fault } from '../contract/fault.ts';
import type { JobContext, StoreUse } from '../jobs/context.ts';
import { fullName } from '../jobs/offers.ts';
import type { AuditFilter } from '../store/audit-log.ts';
import { auditDetail } from './audit-detail.ts';
import { actorNames, exportAuditLog } from './audit-export.ts';
import { type Call, defaultPageSize, type Handlers, handle, type StreamHandler } from './handlers.ts';

/** Dependencies of auditLogHandlers(). */
export type AuditLogContext = StoreUse<'getUsers' | 'listAuditEntries'>;

/** Dependencies of runAudited(). */
export type RecordContext = Pick<JobContext, 'clock' | 'newId' | 'log'> & StoreUse<'appendAuditEntry'>;

const readNames = /^(?:Get|List|Export)[A-Z]/;
const { exportRecords, exportUser, listRecords } = OperatorService.method;
/** Methods whose name says that they read, but that give an operator the data of a user. */
const audited: ReadonlySet<DescMethod> = new Set<DescMethod>([exportRecords, exportUser, listRecords]);

/**
 * Returns true for methods whose calls are recorded in the audit log: all but those that need the scope `read` only, and
 * those whose name says that they read.
 */
export const isAudited = (method: DescMethod): boolean =>
  audited.has(method) || (getOption(method, scopeOption) !== Scope.READ && !readNames.test(method.name));

/** Runs an audited call and records its outcome. An entry that cannot be stored is logged; the call has happened. */
export async function runAudited(
  context: RecordContext,
  method: DescMethod,
  request: Message,
  call: Pick<Call, 'principal' | 'source'>,
  run: () => Promise<Message>,
): Promise<Message> {
  try {
    const response = await run();
    await record(context, method, call, 'ok', request, response);
    return response;
  } catch (error) {
    const { code } = Fault.from(error);
    // An invalid request has no effect, and clients send any number of them.
    if (code !== 'invalid') await record(context, method, call, code, request, null);
    throw error;
  }
}

/** Maximum recorded refusals of a key in a minute, in each process: clients repeat refused calls without end. */
const maxRefusals = 5;
const minuteMs = 60_000;

/** Creates a function that counts a refusal of a key, and returns whether to record it. */
export function createRefusalLimit(clock: Pick<JobContext['clock'], 'now'>): (keyId: string) => boolean {
  const refusals = createBoundedMap<{ since: number; count: number }>({
    maxBytes: 1024 * 1024,
    sizeOf: () => 32,
  });
  return (keyId) => {
    const now = clock.now();
    let known = refusals.get(keyId);
    if (known === undefined || now - known.since >= minuteMs) {
      known = { since: now, count: 0 };
      refusals.set(keyId, known);
    }
    known.count += 1;
    return known.count <= maxRefusals;
  };
}

/** Records a call that was refused before its request was read. */
export async function recordRefusal(
  context: RecordContext,
  method: DescMethod,
  call: Pick<Call, 'principal' | 'source'>,
  error: unknown,
): Promise<void> {
  await record(context, method, call, Fault.from(error).code, null, null);
}

async function record(
  { store, clock, newId, log }: RecordContext,
  method: DescMethod,
  { principal, source = '' }: Pick<Call, 'principal' | 'source'>,
  outcome: string,
  request: Message | null,
  response: Message | null,
): Promise<void> {
  const entry = {
    id: newId(),
    createdAt: clock.now(),
    actorId: principal.userId,
    role: principal.role,
    keyId: principal.keyId,
    action: method.name,
    target: targetOf(request) || targetOf(response),
    source,
    outcome,
  };
  try {
    const detail = request === null ? '' : auditDetail(method, request);
    await store.appendAuditEntry({ ...entry, detail });
  } catch (error) {
    log.error({ entry, error: Fault.from(error).message }, 'audit entry not stored');
  }
}

/** Returns the handlers of the audit log. */
export function auditLogHandlers({ store }: AuditLogContext): Handlers {
  const { method } = OperatorService;
  const unary = new Map([
    handle(method.listAuditEntries, async (request) => {
      const page = { limit: request.pageSize || defaultPageSize, after: request.pageToken || null };
      const { items, next } = await store.listAuditEntries(filterOf(request), page);
      const names = await actorNames(store, items);
      const entries = items.map(({ id, createdAt, ...entry }) => ({
        ...entry,
        entryId: id,
        createdAt: timestampFromMs(createdAt),
        actorName: names.get(entry.actorId) ?? '',
      }));
      return { entries, nextPageToken: next ?? '' };
    }),
  ]);
  const exportLog: StreamHandler = (message) => {
    const request = message as ExportAuditLogRequest;
    return exportAuditLog(store, filterOf(request), request.format);
  };
  return { unary, stream: new Map([[fullName(method.exportAuditLog), exportLog]]) };
}

function filterOf(
  request: Pick<ListAuditEntriesRequest, 'actorId' | 'target' | 'action' | 'outcome' | 'since' | 'until'>,
): AuditFilter {
  const { actorId, target, action, outcome, since, until } = request;
  return {
    ...(actorId === '' ? {} : { actorId }),
    ...(target === '' ? {} : { target }),
    ...(action === '' ? {} : { action }),
    ...(outcome === '' ? {} : { outcome }),
    ...(since === undefined ? {} : { since: timestampMs(since) }),
    ...(until === undefined ? {} : { until: timestampMs(until) }),
  };
}

/** Fields by which requests name what they are about, and responses what they created. */
interface Target {
  jobId?: string;
  taskId?: number;
  keyId?: string;
  userId?: string;
  deliveryId?: string;
  scheduleId?: string;
  user?: { id: string };
  operator?: { id: string };
  job?: { jobId: string };
  destinationId?: string;
  destination?: { destinationId: string };
}

/** Returns the id of what a request is about, or of what its response created; '' without one. */
function targetOf(message: Message | null): string {
  const { jobId, taskId, keyId, userId, deliveryId, destinationId, scheduleId, ...created } = (message ??
    {}) as Target;
  const { user, operator, job, destination } = created;
  const named = jobId || keyId || scheduleId || userId || deliveryId || destinationId;
  const ofResponse = user?.id || operator?.id || job?.jobId || destination?.destinationId;
  return named || ofResponse || (taskId ? String(taskId) : '');
}
