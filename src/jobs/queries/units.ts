import { type CsvValue, csvLine } from '../../base/csv.ts';
import { type Column, createColumns } from '../../formats/columns.ts';
import { type Quality, sumQualityCounts } from '../../quality/data-quality.ts';
import type { BatchSummary } from '../../store/batches.ts';
import { type Page, type PageOptions, placeToken, readPlace } from '../../store/cursor.ts';
import type { Job, QualityCounts } from '../../store/documents.ts';
import type { JobContext } from '../context.ts';
import { jobRefunds } from '../credits.ts';
import { type IndexedUnit, mayHoldFailed, readIndexedBatches, unitsOf } from '../indexed-units.ts';
import { recordFieldsOf } from './rows.ts';

/** Filter for the units of a job. */
export interface UnitFilter {
  /** Returns only units with this status. */
  status?: IndexedUnit['status'];
  /** Returns only failed units with this fault code. */
  code?: string;
}

/**
 * Lists a page of a job's units in submission order. The page token is an index in the job, so
 * pages stay consistent while outcomes arrive. Skips batches before it and batches without matching
 * units. Throws `invalid` for a malformed token.
 */
export async function listUnits(
  { store }: JobContext,
  job: Job,
  { status, code }: UnitFilter,
  { limit, after }: PageOptions,
): Promise<Page<IndexedUnit>> {
  const [from] = readPlace(after);
  const mayMatch = mayContain(job, code === undefined ? status : 'FAILED');
  const isRead = (summary: BatchSummary, first: number) =>
    first + summary.total > from && mayMatch(summary);
  const matches = ({ status: unitStatus, outcome }: IndexedUnit) => {
    if (status !== undefined && unitStatus !== status) return false;
    if (code === undefined) return true;
    return outcome?.status === 'FAILED' && outcome.code === code;
  };
  const items: IndexedUnit[] = [];
  for await (const indexedBatch of readIndexedBatches(store, job.id, isRead)) {
    for (const unit of unitsOf(job, indexedBatch)) {
      if (unit.index < from || !matches(unit)) continue;
      if (items.length === limit) return { items, next: placeToken(unit.index) };
      items.push(unit);
    }
  }
  return { items, next: null };
}

/** Returns a filter for batches that may contain a unit with a status. */
function mayContain(job: Job, status: UnitFilter['status']): (summary: BatchSummary) => boolean {
  switch (status) {
    case 'SUCCESS':
      return ({ success }) => success > 0;
    case 'FAILED':
      return mayHoldFailed(job);
    case 'PENDING':
      return ({ state }) => state !== 'done';
    default:
      return () => true;
  }
}

/** Export format of failed units. */
export type FailureFormat = 'jsonl' | 'csv';

/** Media types of the formats. */
export const failureTypes: Record<FailureFormat, string> = {
  jsonl: 'application/x-ndjson',
  csv: 'text/csv; charset=utf-8',
};

const columns = [
  'index',
  'batch_id',
  'key',
  'region',
  'input',
  'code',
  'message',
  'credits',
  'refund_entry',
] as const;

/**
 * Yields a job's failed units in submission order, as JSON Lines or as CSV with a header. `credits`
 * is the refund of the unit, 0 if the job was never charged; `refund_entry` is the key of the
 * ledger entry, null before the refund. Skips batches without a failure.
 */
export async function* failures(
  { store }: JobContext,
  job: Job,
  format: FailureFormat,
): AsyncGenerator<string> {
  if (format === 'csv') yield csvLine(columns);
  const refunds = await jobRefunds(store, job);
  for await (const indexedBatch of readIndexedBatches(store, job.id, mayHoldFailed(job))) {
    for (const { index, batchId, region, unit, outcome } of unitsOf(job, indexedBatch)) {
      if (outcome?.status !== 'FAILED') continue;
      const { code, message } = outcome;
      const row: Record<(typeof columns)[number], CsvValue> = {
        index,
        batch_id: batchId,
        key: unit.key,
        region,
        input: unit.input,
        code,
        message,
        credits: refunds.charged ? job.unitPrice : 0,
        refund_entry: refunds.entry,
      };
      yield format === 'csv'
        ? csvLine(columns.map((column) => row[column]))
        : `${JSON.stringify(row)}\n`;
    }
  }
}

/** Failed units of a job with the same fault code. */
export interface FaultGroup {
  code: string;
  units: number;
  /** The first units, in submission order. */
  examples: IndexedUnit[];
}

/** Maximum examples of a group. */
const maxExamples = 5;

/**
 * Groups a job's failed units by fault code, the most frequent first. Streams the batches; only
 * counts and examples stay in memory.
 */
export async function groupFaults({ store }: JobContext, job: Job): Promise<FaultGroup[]> {
  const groups = new Map<string, FaultGroup>();
  for await (const indexedBatch of readIndexedBatches(store, job.id, mayHoldFailed(job))) {
    for (const unit of unitsOf(job, indexedBatch)) {
      if (unit.outcome?.status !== 'FAILED') continue;
      const { code } = unit.outcome;
      const group = groups.get(code) ?? { code, units: 0, examples: [] };
      groups.set(code, group);
      group.units += 1;
      if (group.examples.length < maxExamples) group.examples.push(unit);
    }
  }
  return [...groups.values()].sort((one, other) => {
    if (one.units !== other.units) return other.units - one.units;
    return one.code < other.code ? -1 : 1;
  });
}

/**
 * Returns the quality of a job's records so far: the sum of the counts stored with segments and
 * with the files of units.
 */
export async function qualityOf({ jobTypes, store }: JobContext, job: Job): Promise<Quality> {
  const batches = await store.batches.find({ jobId: job.id });
  const seqs = batches.filter(({ success }) => success > 0).map(({ seq }) => seq);
  const tallies: QualityCounts[] = [];
  for await (const { segments, outcomes } of store.batches.read(job.id, { seqs })) {
    for (const { quality } of segments) {
      if (quality !== undefined) tallies.push(quality);
    }
    for (const outcome of Object.values(outcomes)) {
      if (outcome.status !== 'SUCCESS' || outcome.quality === undefined) continue;
      tallies.push(outcome.quality);
    }
  }
  return sumQualityCounts(recordFieldsOf(jobTypes.of(job)), tallies);
}

/** Share of records in which a column has a value. */
export interface ColumnFill {
  column: Column;
  /** 0 to 1; 0 without records. */
  fill: number;
}

/** Returns the fill of the columns of a job's records so far. Each column is a listed field. */
export async function columnFillsOf(
  context: JobContext,
  job: Job,
): Promise<{ records: number; columns: ColumnFill[] }> {
  const { records, fields } = await qualityOf(context, job);
  const filled = new Map(fields.map((field) => [field.name, field.filled]));
  const columns = createColumns(recordFieldsOf(context.jobTypes.of(job))).map((column) => ({
    column,
    fill: records === 0 ? 0 : filled.get(column.name)! / records,
  }));
  return { records, columns };
}
