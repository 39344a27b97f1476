import { setImmediate as nextTurn } from 'node:timers/promises';
import { Fault } from '../../contract/fault.ts';
import type { ConvertedFile, FileConversion } from '../../contract/files.ts';
import { problemText } from '../../contract/problem-texts.ts';
import { createConcurrencyLimit } from '../../fetch/concurrency-limit.ts';
import { type Column, createColumns, othersColumn } from '../../formats/columns.ts';
import {
  createFormat,
  type FormatName,
  formatInfo,
  formatNames,
  isFormatName,
} from '../../formats/format.ts';
import type { ExactObject } from '../../formats/json-text.ts';
import type { Job } from '../../store/documents.ts';
import type { JobContext } from '../context.ts';
import { readIndexedBatches, unitsOf } from '../indexed-units.ts';
import type { JobTypes, ResolvedJobType } from '../job-types.ts';
import { changedEntries, requireCompared } from './item-changes.ts';
import { columnChoices, tableOf } from './item-values.ts';
import {
  placeColumnsOf,
  type RowScope,
  readEntries,
  recordFieldsOf,
  requireResults,
  rowColumnsOf,
  rowsIn,
  rowsOf,
} from './rows.ts';

/** The results of a job in one format. */
export interface JobFile {
  contentType: string;
  /** Extension of its name, without a dot. */
  extension: string;
  /** Reads the file from the start. Every call yields the same bytes. Throws `results_deleted`. */
  read(): AsyncIterable<Uint8Array>;
}

/**
 * Returns the records of an ended job in a format, as its option `only` selects them. Nothing is
 * read until the file is.
 */
export function openJobFile(context: JobContext, job: Job, format: FormatName): JobFile {
  const { contentType, extension } = formatInfo[format];
  const jobType = context.jobTypes.of(job);
  const columns =
    format === 'parquet' ? tableColumnsOf(context.jobTypes, jobType) : rowColumnsOf(jobType);
  const write = createFormat(format, columns);
  const read = () =>
    write(job.options.only === 'changed' ? changedRows(context, job) : rowsOf(context, job));
  return { contentType, extension: extension.slice(1), read };
}

async function* changedRows(context: JobContext, job: Job): AsyncGenerator<ExactObject> {
  requireResults(job);
  await requireCompared(context, job);
  yield* rowsIn(changedEntries(context, job, readEntries(context, job, {})));
}

/**
 * Returns the records of a result file, `<job id>/<file name>`, as a table; with `only: 'changed'`
 * those of items that changed since the last run. Throws `invalid` for an unknown parameter,
 * `results_deleted` for a file that no job has any more, and those of requireCompared() and
 * limitConversion().
 */
export async function exportFile(
  context: JobContext,
  path: string,
  { format, only, columns: choice }: FileConversion,
): Promise<ConvertedFile> {
  if (!isFormatName(format)) throw notOneOf('format', formatNames, format);
  if (only !== '' && only !== 'changed') throw notOneOf('only', ['changed'], only);
  if (choice !== '' && choice !== 'standard') throw notOneOf('columns', columnChoices, choice);
  const [jobId = '', name = ''] = path.split('/');
  const job = await context.store.jobs.get(jobId);
  const scope = job && (await scopeOf(context, job, path));
  if (job === null || scope === null) throw new Fault('results_deleted', 'This file was deleted.');
  if (only !== '') await requireCompared(context, job, ['query', 'only']);
  const all = readEntries(context, job, scope);
  const entries = only === '' ? all : changedEntries(context, job, all);
  const { contentType, extension } = formatInfo[format];
  const { columns, rows } = tableOf(context, job, entries, choice);
  const baseName = name.replace(/\.gz$/, '').replace(/\.[a-z]+$/, '');
  return {
    contentType,
    fileName: `${baseName}${extension}`,
    bytes: limitConversion(job, createFormat(format, columns)(rows)),
  };
}

function notOneOf(param: string, choices: readonly string[], value: string): Fault {
  const { msg, type } = problemText.notOneOf(choices, value);
  return Fault.invalid(['query', param], msg, type);
}

/** Returns the units whose records are in a file, or null if the job does not have the file. */
async function scopeOf({ store }: JobContext, job: Job, path: string): Promise<RowScope | null> {
  if (job.filesDeletedAt !== null) return null;
  if (job.file?.path === path) return {};
  const batches = await store.batches.find({ jobId: job.id });
  const batch = batches.find(({ file }) => file?.path === path);
  if (batch) return { batch: batch.seq };
  for await (const indexedBatch of readIndexedBatches(
    store,
    job.id,
    ({ success }) => success > 0,
  )) {
    for (const { index, outcome } of unitsOf(job, indexedBatch)) {
      if (outcome?.status === 'SUCCESS' && outcome.file?.path === path) return { unit: index };
    }
  }
  return null;
}

/*
 * Conversions of records run on the thread that answers all requests, and hold some megabytes each.
 * Their parts are produced two at a time, in turn for each user, with a turn for other requests
 * after each part.
 */

/** Maximum conversions in progress, in this process and per user. */
const maxConversions = 64;
const maxPerUser = 8;
/** Parts that are produced at a time. */
const maxParts = 2;
/** `Retry-After` of a conversion above these limits, in milliseconds. */
const retryMs = 5_000;

const parts = createConcurrencyLimit(maxParts);
const running = new Map<string, number>();
let total = 0;

/**
 * Yields the bytes of a conversion, produced within the limits of the process. A reader that pauses
 * does not block others. Throws `rate_limited` before the first bytes if the user, or all users
 * together, have too many conversions.
 */
export async function* limitConversion(
  { id: jobId, userId }: { id: string; userId: string },
  bytes: AsyncIterable<Uint8Array>,
): AsyncGenerator<Uint8Array, void, void> {
  requireRoom(userId);
  total += 1;
  running.set(userId, (running.get(userId) ?? 0) + 1);
  const iterator = bytes[Symbol.asyncIterator]();
  try {
    for (;;) {
      const release = await parts.acquire(undefined, { owner: { userId, jobId } });
      const part = await iterator.next().finally(release);
      if (part.done) return;
      yield part.value;
      await nextTurn();
    }
  } finally {
    await iterator.return?.();
    total -= 1;
    const left = running.get(userId)! - 1;
    if (left > 0) running.set(userId, left);
    else running.delete(userId);
  }
}

/** Throws `rate_limited` if the user, or all users together, have the maximum of conversions. */
function requireRoom(userId: string): void {
  const own = running.get(userId) ?? 0;
  if (own < maxPerUser && total < maxConversions) return;
  const whose = own >= maxPerUser ? `You have ${own}` : `The service has ${total}`;
  throw new Fault(
    'rate_limited',
    `${whose} conversions of records in progress, which is the limit. Wait until one has ended.`,
    { retryAfterMs: retryMs },
  );
}

/**
 * Returns the columns of delivered Parquet files of a job type. All markets of a kind have the same
 * columns, so that readers can combine the files in one table. Columns that a market does not have
 * are null. If a column has another type than that of an earlier market, its type is part of its
 * name: `price`, a number, and `price_string`.
 */
export function tableColumnsOf(jobTypes: JobTypes, jobType: ResolvedJobType): Column[] {
  const columns = new Map<string, Column>();
  for (const marketType of jobTypesOf(jobTypes, jobType.kind)) {
    for (const recordColumn of createColumns(recordFieldsOf(marketType))) {
      const column = deliveredColumn(recordColumn);
      const name = uniqueName(column, columns);
      if (marketType === jobType) columns.set(name, { ...column, name });
      else if (!columns.has(name)) columns.set(name, { ...column, name, steps: [] });
    }
  }
  return [...placeColumnsOf(jobType), ...columns.values(), othersColumn];
}

/** Returns the name of a column: with its type if an earlier column of the name has another one. */
function uniqueName({ name, type }: Column, columns: ReadonlyMap<string, Column>): string {
  const earlierType = columns.get(name)?.type ?? type;
  return earlierType === type ? name : `${name}_${type}`;
}

/** Returns a column as delivered tables have it: lists as JSON text, and times as text. */
const deliveredColumn = ({ name, steps, type }: Column): Column => ({
  name,
  steps,
  type: type === 'timestamp' ? 'string' : type,
});

/** Returns the job types of a kind, in the order of the contract's services. */
function jobTypesOf({ methods }: JobTypes, kind: ResolvedJobType['kind']): Set<ResolvedJobType> {
  const all = Array.from(methods.values(), ({ jobType }) => jobType);
  return new Set(all.filter((jobType) => jobType?.kind === kind) as ResolvedJobType[]);
}
