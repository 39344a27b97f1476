import { timeOfDay } from '../../base/clock.ts';
import type { JobContext } from '../../jobs/context.ts';
import { readIndexedBatches, unitsOf } from '../../jobs/indexed-units.ts';
import { fileName, listFiles } from '../../jobs/queries/results.ts';
import { listAuditEntries } from '../../store/audit-log.ts';
import { allOf, type Page, type PageOptions } from '../../store/cursor.ts';
import type { Job, User } from '../../store/documents.ts';
import { listChanges, listObservations, listTrackedItems } from '../../store/history.ts';
import { isAccepted } from '../../store/job-states.ts';
import type { Schedule } from '../../store/schedules.ts';

/** Records per query. */
const pageSize = 200;

/**
 * Yields everything that is stored of a user, as lines of JSON `{"type", "data"}` (ExportLine).
 * Contains no secrets and no hashes of keys. Reads a page of records, or a few batches of units, at
 * a time.
 */
export async function* exportAccount(context: JobContext, user: User): AsyncGenerator<string> {
  const { store, clock } = context;
  const { id } = user;
  yield line('account', user);
  for (const { hash: _, ...key } of await store.apiKeys.find({ userId: id }, { newestFirst: true }))
    yield line('key', key);
  const webhook = await store.webhooks.get(id);
  if (webhook !== null) {
    const { secret: _, previousSecret: __, ...publicFields } = webhook;
    yield line('webhook', publicFields);
  }
  for (const { secrets: _, secretsKey: __, ...destination } of await store.destinations.find({
    userId: id,
  }))
    yield line('destination', destination);
  for await (const job of allOf((page) => store.jobs.list({ userId: id }, page), pageSize))
    if (isAccepted(job)) yield* exportJob(context, job);
  for await (const schedule of allOf(
    (page) => store.schedules.list({ userId: id }, page),
    pageSize,
  ))
    yield* exportSchedule(store, schedule);
  for (const rule of await store.rules.find({ userId: id })) yield line('rule', rule);
  for await (const item of allOf((page) => listTrackedItems(store, id, '', {}, page), pageSize)) {
    const {
      units: _,
      unreadUnits: __,
      foundJob: ___,
      foundBatch: ____,
      rules: _____,
      ...publicFields
    } = item;
    yield line('tracked_item', publicFields);
    yield* exportList('observation', (page) =>
      listObservations(store, item, 0, Number.MAX_SAFE_INTEGER, page),
    );
  }
  yield* exportList('deleted_job', (page) => store.deletedJobs.list({ userId: id }, page));
  yield* exportList('ledger_entry', (page) => store.ledger.list({ userId: id }, page));
  for await (const delivery of allOf(
    (page) => store.deliveries.list({ userId: id }, page),
    pageSize,
  )) {
    const { nextAttemptAt: at } = delivery;
    yield line('delivery', {
      ...delivery,
      nextAttemptAt: at === null ? null : timeOfDay(clock, at),
    });
  }
  yield* exportList('audit_entry', (page) => listAuditEntries(store, { actorId: id }, page));
  // Actions of operators on the account, without their addresses and keys.
  for await (const entry of allOf(
    (page) => listAuditEntries(store, { target: id }, page),
    pageSize,
  )) {
    const { source: _, keyId: __, ...publicFields } = entry;
    if (entry.actorId !== id) yield line('audit_entry', publicFields);
  }
}

async function* exportJob(context: JobContext, job: Job): AsyncGenerator<string> {
  const {
    fileDeletionDue: _,
    noticeDue: __,
    noticeAt: ___,
    stateSince: ____,
    resumable: _____,
    dueAt: ______,
    ...publicFields
  } = job;
  yield line('job', publicFields);
  for await (const placed of readIndexedBatches(context.store, job.id, () => true)) {
    for (const { unit, outcome, ...unitFields } of unitsOf(job, placed))
      yield line('unit', {
        jobId: job.id,
        ...unitFields,
        ...unit,
        ...(outcome?.status === 'FAILED' ? outcome : {}),
      });
  }
  for (const { file, scope, index, key } of await listFiles(context, job))
    yield line('file', {
      jobId: job.id,
      ...file,
      path: fileName(file),
      scope,
      index,
      key,
    });
  yield* exportList('item_change', (page) => listChanges(context.store, job.id, null, page));
}

async function* exportSchedule(
  store: JobContext['store'],
  {
    revision: _,
    dueAt: __,
    pending: ___,
    openRuns: ____,
    notice: _____,
    ...publicFields
  }: Schedule,
): AsyncGenerator<string> {
  const { request } = (await store.schedules.pick({ id: publicFields.id }, [
    'request',
    'revision',
  ])) ?? {
    request: 'null',
  };
  yield line('schedule', { ...publicFields, request: JSON.parse(request) });
  for await (const { revision: ______, ...run } of allOf(
    (page) => store.scheduleRuns.list({ scheduleId: publicFields.id }, page),
    pageSize,
  ))
    yield line('schedule_run', run);
}

async function* exportList<T extends object>(
  type: string,
  read: (page: PageOptions) => Promise<Page<T>>,
): AsyncGenerator<string> {
  for await (const record of allOf(read, pageSize)) yield line(type, record);
}

/**
 * Returns a line with snake_case names and times as ISO 8601, as in the REST API, also in the
 * objects of the record. What the user submitted stays as it is.
 */
function line(type: string, record: object): string {
  return `${JSON.stringify({ type, data: exportedObject(record) })}\n`;
}

/** Names of members with JSON that the user submitted. */
const submittedNames: ReadonlySet<string> = new Set(['input', 'request']);

const exportedObject = (record: object): object =>
  Object.fromEntries(
    Object.entries(record).map(([name, value]) => [
      name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`),
      submittedNames.has(name) ? value : exportedValue(name, value),
    ]),
  );

/** Returns the value of a member, or an element of its list. */
function exportedValue(name: string, value: unknown): unknown {
  if (typeof value === 'number') return isTime(name) ? new Date(value).toISOString() : value;
  if (Array.isArray(value)) return value.map((element) => exportedValue(name, element));
  if (typeof value === 'object' && value !== null) return exportedObject(value);
  return value;
}

/** Names of times in milliseconds, beside those that end with `At` or `Until`. */
const timeNames: ReadonlySet<string> = new Set(['at', 'decideBy', 'stateSince', 'scheduledFor']);

const isTime = (name: string): boolean => /(?:At|Until)$/.test(name) || timeNames.has(name);
