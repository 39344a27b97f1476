import {
  type DescField,
  type DescMethod,
  type Message,
  ScalarType,
  toJson,
} from '@bufbuild/protobuf';
import { timestampMs } from '@bufbuild/protobuf/wkt';
import {
  AuditEntrySchema,
  type ExportAuditLogRequest,
  type ListAuditEntriesRequest,
  OperatorService,
} from '../../../gen/gleaner/operator/v1/operator_pb.ts';
import { Access, Scope } from '../../../gen/gleaner/options/v1/options_pb.ts';
import { type Principal, testAccountId } from '../../access/principal.ts';
import { createBoundedMap } from '../../base/bounded-map.ts';
import { Fault } from '../../contract/fault.ts';
import { requiredRole, requirementOf } from '../../contract/permission.ts';
import { originOnly } from '../../contract/redact.ts';
import type { JobContext } from '../../jobs/context.ts';
import { type AuditFilter, listAuditEntries } from '../../store/audit-log.ts';
import type { Condition } from '../../store/collection.ts';
import type { Store } from '../../store/store.ts';
import { listUsers } from '../../store/users.ts';
import { actorNames, exportAuditLog } from './entry-export.ts';
import {
  type Call,
  type Handlers,
  handle,
  pageOf,
  type StreamHandler,
  shortIdCondition,
} from './handlers.ts';
import { toMessage } from './to-message.ts';

/** Maximum characters of a detail. */
const maxDetail = 2_000;
/** Maximum entries of a list that a detail shows. */
const maxEntries = 20;

/**
 * Returns the request of an audited call as JSON text, up to 2,000 characters. Longer lists and
 * files are replaced by their size, so that the cost of an entry does not grow with the request.
 * Secrets (`debug_redact` in the contract) are left out, except for the origins of addresses.
 */
function auditDetail({ input }: DescMethod, request: Message): string {
  const summaries: Record<string, string> = {};
  const values = request as unknown as Record<string, unknown>;
  for (const field of input.fields) {
    const summary = summaryOf(field, values[field.localName]);
    if (summary !== undefined) summaries[field.name] = summary;
  }
  const hasSummaries = Object.keys(summaries).length > 0;
  const loggedRequest = hasSummaries ? withoutFields(input, request, summaries) : request;
  const json = toJson(input, loggedRequest, { useProtoFieldName: true });
  return JSON.stringify({ ...(json as object), ...summaries }).slice(0, maxDetail);
}

/** Returns the text that replaces a value in a detail, or undefined for a value that is shown. */
function summaryOf({ fieldKind, scalar, proto }: DescField, value: unknown): string | undefined {
  if (proto.options?.debugRedact) return redactedText(value);
  if (fieldKind === 'list') {
    const { length } = value as unknown[];
    return length > maxEntries ? `${length} entries` : undefined;
  }
  if (scalar !== ScalarType.BYTES) return undefined;
  const { length } = value as Uint8Array;
  return length > 0 ? `${length} bytes` : undefined;
}

/** Returns the text that replaces a secret, or undefined if there is none. */
function redactedText(value: unknown): string | undefined {
  if (Array.isArray(value)) return value.length > 0 ? 'redacted' : undefined;
  if (value === undefined || value === '') return undefined;
  return typeof value === 'string' ? originOnly(value) : 'redacted';
}

/** Returns the value of a field that is not set. */
function emptyValue({ fieldKind, scalar }: DescField): unknown {
  if (fieldKind === 'list') return [];
  return scalar === ScalarType.BYTES ? new Uint8Array() : '';
}

function withoutFields(
  input: DescMethod['input'],
  request: Message,
  excluded: Readonly<Record<string, unknown>>,
): Message {
  const loggedFields: Record<string, unknown> = { ...request };
  for (const field of input.fields)
    if (field.name in excluded) loggedFields[field.localName] = emptyValue(field);
  return loggedFields as unknown as Message;
}

const readNames = /^(?:Get|List|Export)[A-Z]/;
/** Methods that only read by their names, but give an operator the data of a user. */
const { exportUser, streamPages } = OperatorService.method;

/**
 * Returns true if a method changes data: it needs more than the scope `read`, and its name has no
 * prefix of a read.
 */
const changes = (method: DescMethod): boolean =>
  requirementOf(method).scope !== Scope.READ && !readNames.test(method.name);

/** Returns true if a call is an operator's use of a method of users. */
const isForUsers = (method: DescMethod, { role }: Pick<Principal, 'role'>): boolean =>
  role === 'operator' && requirementOf(method).access === Access.USER;

/**
 * Returns true for calls that the audit log records: calls that change something, and operators'
 * reads of users' data.
 */
export const isAudited = (method: DescMethod, principal: Pick<Principal, 'role'>): boolean =>
  method === exportUser ||
  method === streamPages ||
  changes(method) ||
  isForUsers(method, principal);

/**
 * Time within which a repeated read is not recorded again, in each process: consoles read every few
 * seconds.
 */
const repeatedReadMs = 3_600_000;

/**
 * Creates a function that returns whether a call repeats a recorded read of the same thing with the
 * same key.
 */
export function createReadMemory(
  clock: Pick<JobContext['clock'], 'now'>,
): (method: DescMethod, request: Message, principal: Principal) => boolean {
  const reads = createBoundedMap<number>({ maxBytes: 1024 * 1024, sizeOf: () => 16 });
  return (method, request, { keyId, role }) => {
    // Each access to the contents of results is recorded.
    if (changes(method) || !isForUsers(method, { role }) || requiredRole(method) !== 'viewer')
      return false;
    const key = `${keyId} ${method.name} ${targetOf(request)}`;
    const now = clock.now();
    const last = reads.get(key);
    if (last !== undefined && now - last < repeatedReadMs) return true;
    reads.set(key, now);
    return false;
  };
}

/**
 * Runs an audited call and records its outcome. An entry that cannot be stored is logged; the call
 * has happened.
 */
export async function runAudited<T extends Message | IteratorResult<Message>>(
  context: JobContext,
  method: DescMethod,
  request: Message,
  call: Pick<Call, 'principal' | 'source'>,
  run: () => Promise<T>,
): Promise<T> {
  try {
    const response = await run();
    await record(
      context,
      method,
      call,
      'ok',
      request,
      '$typeName' in response ? (response as Message) : null,
    );
    return response;
  } catch (error) {
    const { code } = Fault.from(error);
    // An invalid request has no effect, and clients send any number of them.
    if (code !== 'invalid') await record(context, method, call, code, request, null);
    throw error;
  }
}

/**
 * Maximum recorded refusals of a key in a minute, in each process: clients repeat refused calls
 * without end.
 */
const maxRefusals = 5;
const minuteMs = 60_000;

/** Creates a function that counts a refusal of a key, and returns whether to record it. */
export function createRefusalLimit(
  clock: Pick<JobContext['clock'], 'now'>,
): (keyId: string) => boolean {
  const refusals = createBoundedMap<{ since: number; count: number }>({
    maxBytes: 1024 * 1024,
    sizeOf: () => 32,
  });
  return (keyId) => {
    const now = clock.now();
    let refusalCount = refusals.get(keyId);
    if (refusalCount === undefined || now - refusalCount.since >= minuteMs) {
      refusalCount = { since: now, count: 0 };
      refusals.set(keyId, refusalCount);
    }
    refusalCount.count += 1;
    return refusalCount.count <= maxRefusals;
  };
}

/** Records a call that was refused before its request was read. */
export async function recordRefusal(
  context: JobContext,
  method: DescMethod,
  call: Pick<Call, 'principal' | 'source'>,
  error: unknown,
): Promise<void> {
  await record(context, method, call, Fault.from(error).code, null, null);
}

async function record(
  { store, clock, newId, log }: JobContext,
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
    await store.auditLog.insert({ ...entry, detail });
  } catch (error) {
    log.error({ entry, error: Fault.from(error).message }, 'audit entry not stored');
  }
}

const messageOf = toMessage(AuditEntrySchema);

export function auditLogHandlers({ store }: JobContext): Handlers {
  const { method } = OperatorService;
  const unary = new Map([
    handle(method.listAuditEntries, async (request) => {
      const { items, next } = await listAuditEntries(
        store,
        await filterOf(store, request),
        pageOf(request),
      );
      const names = await actorNames(store, items);
      const entries = items.map((entry) =>
        messageOf({ ...entry, entryId: entry.id, actorName: names.get(entry.actorId) }),
      );
      return { entries, nextPageToken: next ?? '' };
    }),
  ]);
  const exportLog: StreamHandler = async function* (message) {
    const request = message as ExportAuditLogRequest;
    yield* exportAuditLog(store, await filterOf(store, request), request.format);
  };
  return { unary, stream: new Map([[method.exportAuditLog, exportLog]]) };
}

async function filterOf(
  store: Pick<Store, 'users'>,
  request: Pick<
    ListAuditEntriesRequest,
    'actorId' | 'target' | 'action' | 'outcome' | 'since' | 'until'
  >,
): Promise<AuditFilter> {
  const { actorId, target, action, outcome, since, until } = request;
  const filter: AuditFilter = {};
  if (actorId !== '') filter.actorId = await actorsOf(store, actorId);
  if (target !== '') filter.target = shortIdCondition(target) ?? target;
  if (action !== '') filter.action = action;
  if (outcome !== '') filter.outcome = outcome;
  if (since !== undefined) filter.since = timestampMs(since);
  if (until !== undefined) filter.until = timestampMs(until);
  return filter;
}

const roles = ['operator', 'user'] as const;
const uuid = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/** Maximum accounts of a role that are compared with a name. */
const maxNamed = 1_000;

/** Returns the condition of the operators and users with an id or a name. */
async function actorsOf(store: Pick<Store, 'users'>, text: string): Promise<Condition<string>> {
  if (uuid.test(text)) return text;
  const pages = await Promise.all(
    roles.map((role) => listUsers(store, role, { limit: maxNamed }, text)),
  );
  const accounts = pages.flatMap(({ items }) => items);
  const named = accounts.filter(({ name }) => name.toLowerCase() === text.toLowerCase());
  return { in: [text, ...named.flatMap(({ id }) => [id, testAccountId(id)])] };
}

/** Fields that identify the target in requests, and the created resource in responses. */
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

/**
 * Returns the id of the resource that a request names or that its response created, '' without one.
 */
function targetOf(message: Message | null): string {
  const { jobId, taskId, keyId, userId, deliveryId, destinationId, scheduleId, ...created } =
    (message ?? {}) as Target;
  const { user, operator, job, destination } = created;
  const named = jobId || keyId || scheduleId || userId || deliveryId || destinationId;
  const ofResponse = user?.id || operator?.id || job?.jobId || destination?.destinationId;
  return named || ofResponse || (taskId ? String(taskId) : '');
}
