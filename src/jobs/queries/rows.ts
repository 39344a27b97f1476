import { linesOf } from '../../base/lines.ts';
import { Fault } from '../../contract/fault.ts';
import { type Column, columnsOf, othersColumn, topColumn } from '../../formats/columns.ts';
import { type FormatName, formatInfo } from '../../formats/format.ts';
import { type ExactObject, parseExact } from '../../formats/json-text.ts';
import type { UnitFilePack } from '../../kinds/kind.ts';
import type { BatchSummary, Job, StoredFile } from '../../store/documents.ts';
import type { JobContext, StoreUse } from '../context.ts';
import type { Offer } from '../offers.ts';
import { type PlacedUnit, readPlaced, unitsOf } from '../placed.ts';
import { readRecords } from '../records.ts';
import { requireResults } from './deleted-results.ts';

/** Dependencies of this module. */
export type RowsContext = Pick<JobContext, 'blobs' | 'offers'> &
  StoreUse<'listBatches' | 'readBatches' | 'readLegacyRecords'>;

/** Units of a job whose records are read; by default all. */
export interface RowScope {
  /** Only the batch with this position in the job. */
  batch?: number;
  /** Only the unit with this index in the job. */
  unit?: number;
}

/** Columns that name the unit of a row. */
const unitColumns: readonly Column[] = [
  topColumn('unit_index', 'integer'),
  topColumn('unit_key', 'string'),
  topColumn('unit_region', 'string'),
];

/** Columns that place a row in the listing of its unit. */
const listColumns: readonly Column[] = [
  topColumn('unit_list', 'string'),
  topColumn('unit_position', 'integer'),
];

/** Returns the name of a job's exported records. */
export function exportName({ market, kind, id }: Job, format: FormatName): string {
  return `${market}_${kind}_${id}${formatInfo[format].extension}`;
}

/** Returns the listed fields of the records in rows of an offer's jobs, in the notation of fieldsOf(). */
export function recordFieldsOf({ kind, market }: Pick<Offer, 'kind' | 'market'>): string {
  const fields = market.listedFields[kind.page];
  if (fields === undefined) throw new Error(`${market.name} lists no fields of ${kind.page} pages`);
  return fields;
}

/** Returns the columns that rows of an offer's jobs have in addition to their record. */
export function placeColumnsOf({ kind }: Offer): readonly Column[] {
  return kind.files.unit === undefined ? unitColumns : [...unitColumns, ...listColumns];
}

/** Returns the columns of rows of an offer's jobs. */
export function rowColumnsOf(offer: Offer): Column[] {
  return [...placeColumnsOf(offer), ...columnsOf(recordFieldsOf(offer)), othersColumn];
}

/**
 * Yields the records of a job so far, in the order submitted: one row per successful unit or, for listings, per entry. A row
 * has the record's members and those of placeColumnsOf(). At most one batch of records is in memory. Fault
 * `results_deleted`.
 */
export function rowsOf(context: RowsContext, job: Job, scope: RowScope = {}): AsyncGenerator<ExactObject> {
  requireResults(job);
  return readRows(context, job, scope);
}

async function* readRows(context: RowsContext, job: Job, scope: RowScope): AsyncGenerator<ExactObject> {
  const { files } = context.offers.of(job).kind;
  for await (const placed of readPlaced(context.store, job.id, (summary, first) =>
    holds(scope, summary, first),
  )) {
    const records = await readRecords(context, placed.batch);
    for (const placedUnit of unitsOf(job, placed)) {
      const { index, outcome } = placedUnit;
      if (outcome?.status !== 'SUCCESS' || (scope.unit ?? index) !== index) continue;
      if (outcome.file) yield* entryRows(context, files.unit!, outcome.file, placedUnit);
      else {
        const bytes = records.get(index - placed.first);
        if (bytes) yield { ...placeOf(placedUnit), ...parseRecord(bytes.toString()) };
      }
    }
  }
}

function holds({ batch, unit }: RowScope, { seq, success, total }: BatchSummary, first: number): boolean {
  if (success === 0 || (batch ?? seq) !== seq) return false;
  return unit === undefined || (unit >= first && unit < first + total);
}

const placeOf = ({ index, unit, region }: PlacedUnit): ExactObject => ({
  unit_index: index,
  unit_key: unit.key,
  unit_region: region,
});

/** Yields the entries of a unit's file. Fault `internal` if the file has another number of entries than were written. */
async function* entryRows(
  { blobs }: RowsContext,
  pack: UnitFilePack,
  { path, items }: StoredFile,
  placed: PlacedUnit,
): AsyncGenerator<ExactObject> {
  let count = 0;
  for await (const { list, text } of pack.entries(linesOf(await blobs.read(path))))
    yield { ...placeOf(placed), unit_list: list, unit_position: count++, ...parseRecord(text) };
  if (count !== items)
    throw new Fault('internal', `${path} has ${count} entries instead of ${items}: its content was changed`);
}

function parseRecord(text: string): ExactObject {
  const record = parseExact(text);
  // Readers return objects. Another value cannot be spread into a row.
  return typeof record === 'object' && record !== null && !Array.isArray(record)
    ? (record as ExactObject)
    : { value: record };
}
