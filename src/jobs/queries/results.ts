import type { Job } from '../../store/documents.ts';
import type { JobContext, StoreUse } from '../context.ts';
import { type PlacedUnit, readPlaced, unitsOf } from '../placed.ts';
import { openRecords } from '../records.ts';
import { changedEntries, type OnlyFilter } from './changed.ts';
import { requireResults } from './deleted-results.ts';
import { fileName } from './result-files.ts';
import { type RowsContext, readEntries } from './rows.ts';

/** Dependencies of this module. */
export type ResultsContext = Pick<JobContext, 'links'> & StoreUse<'getChanges'> & RowsContext;

/**
 * Returns a job's results so far, one JSON line per successful unit in submission order. `record` is copied byte for
 * byte; units with a file have `file` instead. With `only: 'changed'`, leaves out units without an item that changed
 * since the last run; the comparison must be complete. A few records are in memory. Fault
 * `results_deleted`.
 */
export function results(
  context: ResultsContext,
  job: Job,
  only: OnlyFilter = '',
): AsyncGenerator<string | Uint8Array> {
  requireResults(job);
  return only === '' ? lines(context, job) : changedLines(context, job);
}

/** Returns the member of a line that marks a reused record. */
const reusedMember = ({ collectedAt }: { collectedAt?: number }) =>
  collectedAt === undefined ? {} : { collected_at: new Date(collectedAt).toISOString() };

async function* lines(context: ResultsContext, job: Job): AsyncGenerator<string | Uint8Array> {
  const { store } = context;
  for await (const placed of readPlaced(store, job.id, ({ success }) => success > 0)) {
    const records = openRecords(context, placed.batch);
    for (const unit of unitsOf(job, placed))
      yield* lineOf(context, job, unit, await records.read(unit.index - placed.first));
  }
}

/** Yields the lines of units with an item that is new, changed, or back again since the last run. */
async function* changedLines(context: ResultsContext, job: Job): AsyncGenerator<string | Uint8Array> {
  let last = -1;
  for await (const { unit, bytes } of changedEntries(context, job, readEntries(context, job, {}))) {
    if (unit.index !== last) yield* lineOf(context, job, unit, bytes);
    last = unit.index;
  }
}

/** Yields the parts of a unit's line; none for a unit without a result. */
async function* lineOf(
  context: ResultsContext,
  job: Job,
  { index, batchId, region, unit, outcome }: PlacedUnit,
  record: Uint8Array | null = null,
): AsyncGenerator<string | Uint8Array> {
  if (outcome?.status !== 'SUCCESS') return;
  const { key, input } = unit;
  const line = JSON.stringify({ index, batch_id: batchId, key, region, input, ...reusedMember(outcome) });
  if (outcome.file) {
    yield `${line.slice(0, -1)},"file":${JSON.stringify(await fileJson(context, job, outcome.file))}}\n`;
    return;
  }
  yield `${line.slice(0, -1)},"record":`;
  yield record ?? 'null';
  yield '}\n';
}

async function fileJson({ links }: ResultsContext, job: Job, file: NonNullable<Job['file']>) {
  const { contentType, items, bytes, sha256 } = file;
  return {
    name: fileName(file),
    content_type: contentType,
    items,
    bytes,
    sha256,
    download_url: await links.file(job, file, true),
  };
}
