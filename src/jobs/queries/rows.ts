import { Fault } from '../../contract/fault.ts';
import { type Column, createColumns, othersColumn, topColumn } from '../../formats/columns.ts';
import { type FormatName, formatInfo } from '../../formats/format.ts';
import {
  type ExactJson,
  type ExactObject,
  isExactObject,
  parseExact,
} from '../../formats/json-text.ts';
import type { UnitFilePack } from '../../kinds/kind.ts';
import type { RecordFields } from '../../quality/record-schema.ts';
import type { BatchSummary } from '../../store/batches.ts';
import type { Job, StoredFile } from '../../store/documents.ts';
import type { JobContext } from '../context.ts';
import {
  type IndexedBatch,
  type IndexedUnit,
  mayHoldFailed,
  readIndexedBatches,
  unitsOf,
} from '../indexed-units.ts';
import type { ResolvedJobType } from '../job-types.ts';
import { isRecord, openRecords, readFileEntries } from '../records.ts';

/** Throws the fault `results_deleted` for a job whose result files were deleted. */
export function requireResults({ filesDeletedAt }: Pick<Job, 'filesDeletedAt'>): void {
  if (filesDeletedAt === null) return;
  const day = new Date(filesDeletedAt).toISOString().slice(0, 10);
  throw new Fault('results_deleted', `The results of this job were deleted on ${day}.`);
}

/** Units of a job whose records are read; by default all. */
export interface RowScope {
  /** Only the batch with this position in the job. */
  batch?: number;
  /** Only the unit with this index in the job. */
  unit?: number;
  /** Only the units with these indexes. */
  units?: ReadonlySet<number>;
  /** Skips batches that end before the unit with this index. */
  from?: number;
  /** Includes failed units; for readEntries(). */
  failed?: boolean;
  /** False to leave out records; for readEntries(). */
  records?: boolean;
}

/** Columns that name the unit of a row. */
const unitColumns: readonly Column[] = [
  topColumn('unit_index', 'integer'),
  topColumn('unit_key', 'string'),
  topColumn('unit_region', 'string'),
];

/** Columns with the position of a row in the listing of its unit. */
const listColumns: readonly Column[] = [
  topColumn('unit_list', 'string'),
  topColumn('unit_position', 'integer'),
];

/** Returns the name of a job's exported records. */
export function exportName({ market, kind, id }: Job, format: FormatName): string {
  return `${market}_${kind}_${id}${formatInfo[format].extension}`;
}

/** Returns the listed fields of the records in rows of a job type's jobs. */
export function recordFieldsOf({
  kind,
  market,
}: Pick<ResolvedJobType, 'kind' | 'market'>): RecordFields {
  const fields = market.listedFields[kind.page];
  if (fields === undefined) throw new Error(`${market.name} lists no fields of ${kind.page} pages`);
  return fields;
}

/** Returns the columns that rows of a job type's jobs have in addition to their record. */
export function placeColumnsOf({ kind }: ResolvedJobType): readonly Column[] {
  if (kind.files.unit === undefined) return unitColumns;
  return [...unitColumns, ...listColumns];
}

/** Returns the columns of rows of a job type's jobs. */
export function rowColumnsOf(jobType: ResolvedJobType): Column[] {
  return [...placeColumnsOf(jobType), ...createColumns(recordFieldsOf(jobType)), othersColumn];
}

/**
 * Yields the records of a job so far, in the order submitted: one row per successful unit or, for
 * listings, per entry (rowOf()). Records of four batches at most, and a bounded number of bytes of
 * each, are in memory. Throws `results_deleted`.
 */
export function rowsOf(
  context: JobContext,
  job: Job,
  scope: RowScope = {},
): AsyncGenerator<ExactObject> {
  requireResults(job);
  return rowsIn(readEntries(context, job, scope));
}

/** Yields the rows of entries. */
export async function* rowsIn(entries: AsyncIterable<Entry>): AsyncGenerator<ExactObject> {
  for await (const entry of entries) {
    if (hasRecord(entry)) yield rowOf(entry);
  }
}

/** A record of a job, or a failed unit. */
export interface Entry {
  unit: IndexedUnit;
  /** Position of the unit's batch in the job, from 0. */
  batch: number;
  /** Position in the unit's listing, from 0; 0 for other units. */
  position: number;
  /** List of the unit's file that the entry belongs to. Absent for units without listings. */
  list?: string;
  /** Null for a failed unit. */
  record: ExactObject | null;
  /** Stored bytes of the record. Absent for entries of listings and for failed units. */
  bytes?: Uint8Array;
}

/** An entry with a record. */
export type RecordEntry = Entry & { record: ExactObject };

/** Returns true if an entry is no failed unit. */
export const hasRecord = (entry: Entry): entry is RecordEntry => entry.record !== null;

/**
 * Returns the row of an entry: the columns of placeColumnsOf(), and the members of the record.
 * Members that are named like one of these columns are in `other_fields`.
 */
export function rowOf({ unit, position, list, record }: RecordEntry): ExactObject {
  const unitFields: ExactObject = {
    unit_index: unit.index,
    unit_key: unit.unit.key,
    unit_region: unit.region,
  };
  if (list !== undefined) Object.assign(unitFields, { unit_list: list, unit_position: position });
  const hiddenNames = Object.keys(unitFields).filter((name) => Object.hasOwn(record, name));
  if (hiddenNames.length === 0) return { ...unitFields, ...record };
  const otherFields: Record<string, ExactJson> = {};
  for (const name of hiddenNames) otherFields[name] = record[name]!;
  const recordOthers = record[othersColumn.name];
  if (recordOthers !== undefined) otherFields[othersColumn.name] = recordOthers;
  return {
    ...unitFields,
    ...record,
    ...unitFields,
    [othersColumn.name]: otherFields,
  };
}

/** Yields the records of a job like rowsOf() and, if the scope has `failed`, its failed units. */
export async function* readEntries(
  context: JobContext,
  job: Job,
  scope: RowScope,
): AsyncGenerator<Entry> {
  const { files } = context.jobTypes.of(job).kind;
  const isRead = (summary: BatchSummary, first: number) => holds(scope, job, summary, first);
  const indexedBatches = readIndexedBatches(context.store, job.id, isRead);
  const openBatches = prefetch(indexedBatches, maxBatchesAhead, (indexed) =>
    openBatch(context, job, scope, indexed),
  );
  for await (const { first, batch, units, records } of openBatches) {
    for (const unit of units) {
      if (isFailureIn(scope, unit))
        yield {
          unit,
          batch,
          position: 0,
          record: null,
        };
      const success = successIn(scope, unit);
      if (success === null) continue;
      if (success.file) {
        yield* entryRows(context, files.unit!, success.file, { unit, batch });
        continue;
      }
      const bytes = await records.read(unit.index - first);
      if (bytes === null) continue;
      const record = parseRecord(bytes.toString());
      yield { unit, batch, position: 0, record, bytes };
    }
  }
}

const isFailureIn = ({ failed = false }: RowScope, { outcome }: IndexedUnit): boolean =>
  failed && outcome?.status === 'FAILED';

/**
 * Returns the outcome of a successful unit, or null for another unit or a scope without records.
 */
function successIn({ records = true }: RowScope, { outcome }: IndexedUnit) {
  if (records && outcome?.status === 'SUCCESS') return outcome;
  return null;
}

/** Opens the records of a batch in a scope, and reads the first ones. */
async function openBatch(context: JobContext, job: Job, scope: RowScope, indexed: IndexedBatch) {
  const { batch, first } = indexed;
  const units = [...unitsOf(job, indexed)].filter(({ index }) => isInScope(scope, index));
  const indexes = scope.records === false ? [] : units.map(({ index }) => index - first);
  const records = openRecords(context, batch, indexes);
  const next = indexes.find((index) => isRecord(batch.outcomes[index]));
  if (next !== undefined) await records.prefetch(next);
  return { first, batch: batch.seq, units, records };
}

/** Maximum batches whose records are read while those before them are used. */
const maxBatchesAhead = 3;

function isInScope({ unit, units }: RowScope, index: number): boolean {
  if (unit !== undefined && unit !== index) return false;
  return units === undefined || units.has(index);
}

/** Returns true if a batch, whose first unit has the index `first`, has entries in a scope. */
function holds(
  { batch, unit, units, from = 0, failed, records = true }: RowScope,
  job: Job,
  summary: BatchSummary,
  first: number,
): boolean {
  const { seq, success, total } = summary;
  const hasRecords = records && success > 0;
  const hasFailures = failed && mayHoldFailed(job)(summary);
  if (!hasRecords && !hasFailures) return false;
  if (batch !== undefined && batch !== seq) return false;
  const end = first + total;
  if (end <= from) return false;
  const has = (index: number) => index >= first && index < end;
  if (unit !== undefined && !has(unit)) return false;
  return units === undefined || [...units].some(has);
}

/** Yields the entries of a unit's file. */
async function* entryRows(
  context: JobContext,
  pack: UnitFilePack,
  file: StoredFile,
  { unit, batch }: Pick<Entry, 'unit' | 'batch'>,
): AsyncGenerator<Entry> {
  let position = 0;
  for await (const { list, text } of readFileEntries(context, pack, file)) {
    yield {
      unit,
      batch,
      position,
      list,
      record: parseRecord(text),
    };
    position++;
  }
}

function parseRecord(text: string): ExactObject {
  const record = parseExact(text);
  // Readers return objects. Another value has no members.
  return isExactObject(record) ? record : { value: record };
}

/**
 * Yields the mapped values of a source in order, and maps up to `maxAhead` values in advance.
 * Starts with none in advance, so that a consumer that stops early has requested few values that it
 * does not use.
 */
export async function* prefetch<Value, Mapped>(
  source: AsyncIterable<Value>,
  maxAhead: number,
  map: (value: Value) => Promise<Mapped>,
): AsyncGenerator<Mapped> {
  const pending: Promise<Mapped>[] = [];
  let yielded = 0;
  for await (const value of source) {
    const mapped = map(value);
    // Rejections are thrown in order, and ignored after the last value that is consumed.
    mapped.catch(() => {});
    pending.push(mapped);
    if (pending.length <= Math.min(yielded, maxAhead)) continue;
    yield await pending.shift()!;
    yielded += 1;
  }
  for (const mapped of pending) yield await mapped;
}
