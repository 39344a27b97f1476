import { type DescMethod, type Message, toJson } from '@bufbuild/protobuf';
import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import { AccountService } from '../../gen/gleaner/account/v1/account_pb.ts';
import { JobService } from '../../gen/gleaner/job/v1/job_pb.ts';
import { OperatorService } from '../../gen/gleaner/operator/v1/operator_pb.ts';
import { SessionService } from '../../gen/gleaner/session/v1/session_pb.ts';
import { Fault } from '../contract/fault.ts';
import type { JobContext, StoreUse } from '../jobs/context.ts';
import { type Call, defaultPageSize, type Handler, handle } from './handlers.ts';

/** Dependencies of auditLogHandlers(). */
export type AuditLogContext = StoreUse<'getUsers' | 'listAuditEntries'>;

/** Services whose methods are recorded, except for those that only read. */
const auditedServices: ReadonlySet<string> = new Set(
  [OperatorService, AccountService, SessionService].map(({ typeName }) => typeName),
);
/** Recorded methods of other services, where calls on the caller's own jobs are not. */
const otherAudited: ReadonlySet<DescMethod> = new Set([JobService.method.deleteFiles]);
const readNames = /^(?:Get|List|Export)[A-Z]/;
const maxDetail = 2_000;

/** Returns true for methods whose calls are recorded in the audit log. A method is recorded unless its name says that it reads. */
export const isAudited = (method: DescMethod): boolean =>
  otherAudited.has(method) || (auditedServices.has(method.parent.typeName) && !readNames.test(method.name));

/** Runs an audited call and records its outcome. An entry that cannot be stored is logged; the call has happened. */
export async function runAudited(
  { store, clock, newId, log }: Pick<JobContext, 'clock' | 'newId' | 'log'> & StoreUse<'appendAuditEntry'>,
  method: DescMethod,
  request: Message,
  { principal, source = '' }: Pick<Call, 'principal' | 'source'>,
  run: () => Promise<Message>,
): Promise<Message> {
  const record = async (outcome: string, response: Message | null) => {
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
      const detail = JSON.stringify(toJson(method.input, request, { useProtoFieldName: true }));
      await store.appendAuditEntry({ ...entry, detail: detail.slice(0, maxDetail) });
    } catch (error) {
      log.error({ entry, error: Fault.from(error).message }, 'audit entry not stored');
    }
  };
  try {
    const response = await run();
    await record('ok', response);
    return response;
  } catch (error) {
    const { code } = Fault.from(error);
    // An invalid request has no effect, and clients send any number of them.
    if (code !== 'invalid') await record(code, null);
    throw error;
  }
}

/** Returns the handlers of the audit log. */
export function auditLogHandlers({ store }: AuditLogContext): [string, Handler][] {
  return [
    handle(OperatorService.method.listAuditEntries, async (request) => {
      const page = { limit: request.pageSize || defaultPageSize, after: request.pageToken || null };
      const filter = {
        ...(request.actorId === '' ? {} : { actorId: request.actorId }),
        ...(request.target === '' ? {} : { target: request.target }),
      };
      const { items, next } = await store.listAuditEntries(filter, page);
      const actors = await store.getUsers([...new Set(items.map(({ actorId }) => actorId))]);
      const names = new Map(actors.map(({ id, name }) => [id, name]));
      const entries = items.map(({ id, createdAt, ...entry }) => ({
        ...entry,
        entryId: id,
        createdAt: timestampFromMs(createdAt),
        actorName: names.get(entry.actorId) ?? '',
      }));
      return { entries, nextPageToken: next ?? '' };
    }),
  ];
}

/** Fields by which requests name what they are about, and responses what they created. */
interface Target {
  jobId?: string;
  keyId?: string;
  userId?: string;
  deliveryId?: string;
  user?: { id: string };
  operator?: { id: string };
  job?: { jobId: string };
}

/** Returns the id of what a request is about, or of what its response created; '' without one. */
function targetOf(message: Message | null): string {
  const { jobId, keyId, userId, deliveryId, user, operator, job } = (message ?? {}) as Target;
  return jobId || keyId || userId || deliveryId || user?.id || operator?.id || job?.jobId || '';
}
