import { setImmediate as nextTurn } from 'node:timers/promises';
import type { MessageInitShape } from '@bufbuild/protobuf';
import type { RecordDifferenceSchema } from '../../../gen/gleaner/job/v1/job_pb.ts';
import { Fault } from '../../contract/fault.ts';
import { type Cell, cellReader } from '../../formats/cells.ts';
import { type Column, createColumns, othersColumn } from '../../formats/columns.ts';
import type { Job } from '../../store/documents.ts';
import type { JobContext } from '../context.ts';
import { type Entry, readEntries, recordFieldsOf, requireResults } from './rows.ts';
import { createScans } from './scans.ts';

/** Difference of a record, or of a field in it. */
type Difference = 'gained' | 'changed' | 'lost';

/** Differences between a reread and the first job (ListDifferencesResponse). */
type Differences = Awaited<ReturnType<typeof compare>>;

const maxRecords = 100;
/** Records between which other work runs. */
const recordsPerTurn = 100;

/**
 * Creates the function that compares an ended reread with the first job. It throws `conflict` for a
 * job that is not an ended reread, and `results_deleted` if the records of either job were deleted.
 */
export function createDifferences(): (context: JobContext, job: Job) => Promise<Differences> {
  const scans = createScans<Differences>(({ records }) => 1_000 + 500 * records.length);
  return async (context, job) => {
    const { rereadOf, finishedAt, state } = job;
    if (rereadOf === null)
      throw new Fault('conflict', 'The job is no reread: there is nothing to compare.');
    if (finishedAt === null) throw new Fault('conflict', `The job has not ended: it is ${state}.`);
    requireResults(job);
    const first = await context.store.jobs.get(rereadOf);
    if (first === null) throw new Fault('results_deleted', 'The first job was deleted.');
    requireResults(first);
    return scans.of(job, 'differences', () => compare(context, first, job));
  };
}

async function compare(context: JobContext, first: Job, reread: Job) {
  const columns = createColumns(recordFieldsOf(context.jobTypes.of(reread)));
  const fields = createFieldComparison([...columns, othersColumn]);
  const counts = {
    gained: 0,
    changed: 0,
    lost: 0,
    equal: 0,
  };
  const records: MessageInitShape<typeof RecordDifferenceSchema>[] = [];
  const pairs = pairEntries(readEntries(context, first, {}), readEntries(context, reread, {}));
  let turn = 0;
  for await (const pair of pairs) {
    if (++turn % recordsPerTurn === 0) await nextTurn();
    const differingFields = fields.compare(pair);
    const difference = differenceOfPair(pair, differingFields);
    counts[difference ?? 'equal'] += 1;
    if (difference === null || records.length >= maxRecords) continue;
    const { unit, position } = (pair.after ?? pair.before)!;
    records.push({
      unitIndex: unit.index,
      unitKey: unit.unit.key,
      position,
      difference,
      fields: differingFields,
    });
  }
  return {
    rereadOf: first.id,
    ...counts,
    fields: fields.differing(),
    records,
  };
}

/**
 * Entries of the first job and of the reread with the same unit and position. One of them may be
 * absent.
 */
interface EntryPair {
  before: Entry | null;
  after: Entry | null;
}

/** Compares records field by field and counts the differences of each field. */
function createFieldComparison(columns: readonly Column[]) {
  const cellsOf = cellReader(columns);
  const fields = columns.map(({ name }) => ({
    name,
    gained: 0,
    changed: 0,
    lost: 0,
  }));
  return {
    /** Returns the names of the fields that differ. None if only one job has the record. */
    compare({ before, after }: EntryPair): string[] {
      if (!before?.record || !after?.record) return [];
      const previousCells = cellsOf(before.record);
      const currentCells = cellsOf(after.record);
      const names: string[] = [];
      for (const [index, field] of fields.entries()) {
        const difference = differenceOfCell(previousCells[index]!, currentCells[index]!);
        if (difference === null) continue;
        field[difference] += 1;
        names.push(field.name);
      }
      return names;
    },
    /** Returns the counts of the fields that differ in any record. */
    differing: () => fields.filter(({ gained, changed, lost }) => gained + changed + lost > 0),
  };
}

function differenceOfCell(before: Cell, after: Cell): Difference | null {
  if (before === after) return null;
  if (before === null) return 'gained';
  return after === null ? 'lost' : 'changed';
}

function differenceOfPair(pair: EntryPair, differingFields: readonly string[]): Difference | null {
  if (pair.before === null) return 'gained';
  if (pair.after === null) return 'lost';
  return differingFields.length > 0 ? 'changed' : null;
}

/** Yields the entries of both jobs by unit and position. */
async function* pairEntries(
  first: AsyncGenerator<Entry>,
  second: AsyncGenerator<Entry>,
): AsyncGenerator<EntryPair> {
  try {
    let before = await first.next();
    let after = await second.next();
    while (!before.done || !after.done) {
      const order = compareResults(before, after);
      yield {
        before: order <= 0 ? before.value! : null,
        after: order >= 0 ? after.value! : null,
      };
      if (order <= 0) before = await first.next();
      if (order >= 0) after = await second.next();
    }
  } finally {
    await Promise.all([first.return(undefined), second.return(undefined)]);
  }
}

/** Orders entries by unit and position. The end of a job comes after its entries. */
function compareResults(one: IteratorResult<Entry>, other: IteratorResult<Entry>): number {
  if (one.done) return 1;
  if (other.done) return -1;
  return one.value.unit.index - other.value.unit.index || one.value.position - other.value.position;
}
