import { setImmediate as nextTurn } from 'node:timers/promises';
import type { MessageInitShape } from '@bufbuild/protobuf';
import type { RecordDifferenceSchema } from '../../../gen/gleaner/job/v1/job_pb.ts';
import { Fault } from '../../contract/fault.ts';
import { type Cell, cellReader } from '../../formats/cells.ts';
import { createColumns } from '../../formats/columns.ts';
import type { Job } from '../../store/documents.ts';
import type { JobContext } from '../context.ts';
import { createScans } from './explore.ts';
import { type Entry, readEntries, recordFieldsOf, requireResults } from './rows.ts';

/** Difference of a record, or of a field in it. */
type Difference = 'gained' | 'changed' | 'lost';

/** Differences between a reread and the first job (ListDifferencesResponse). */
type Differences = Awaited<ReturnType<typeof compare>>;

const maxRecords = 100;
/** Records between which other work runs. */
const recordsPerTurn = 100;

/**
 * Creates the function that compares an ended reread with the first job. It throws `conflict` for another
 * job, and `results_deleted` if the records of either job were deleted.
 */
export function createDifferences(): (context: JobContext, job: Job) => Promise<Differences> {
  const scans = createScans<Differences>(({ records }) => 1_000 + 500 * records.length);
  return async (context, job) => {
    const { rereadOf, finishedAt, state } = job;
    if (rereadOf === null) throw new Fault('conflict', 'The job is no reread: there is nothing to compare.');
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
  const cellsOf = cellReader(columns);
  const fields = columns.map(({ name }) => ({ name, gained: 0, changed: 0, lost: 0 }));
  const counts = { gained: 0, changed: 0, lost: 0, equal: 0 };
  const records: MessageInitShape<typeof RecordDifferenceSchema>[] = [];
  let turn = 0;
  for await (const [before, after] of pairs(
    readEntries(context, first, {}),
    readEntries(context, reread, {}),
  )) {
    if (++turn % recordsPerTurn === 0) await nextTurn();
    const { unit, position } = (after ?? before)!;
    const names: string[] = [];
    if (before?.record && after?.record) {
      const [old, current] = [cellsOf(before.record), cellsOf(after.record)];
      for (const [at, field] of fields.entries()) {
        const difference = differenceOf(old[at]!, current[at]!);
        if (difference === null) continue;
        field[difference] += 1;
        names.push(field.name);
      }
    }
    const difference = before && after ? (names.length > 0 ? 'changed' : null) : after ? 'gained' : 'lost';
    counts[difference ?? 'equal'] += 1;
    if (difference === null || records.length >= maxRecords) continue;
    records.push({ unitIndex: unit.index, unitKey: unit.unit.key, position, difference, fields: names });
  }
  const differing = fields.filter(({ gained, changed, lost }) => gained + changed + lost > 0);
  return { rereadOf: first.id, ...counts, fields: differing, records };
}

function differenceOf(before: Cell, after: Cell): Difference | null {
  if (before === after) return null;
  if (before === null) return 'gained';
  return after === null ? 'lost' : 'changed';
}

/** Yields the entries of both jobs by unit and position. */
async function* pairs(
  first: AsyncGenerator<Entry>,
  second: AsyncGenerator<Entry>,
): AsyncGenerator<[before: Entry | null, after: Entry | null]> {
  try {
    let [before, after] = [await first.next(), await second.next()];
    while (!before.done || !after.done) {
      const order = before.done ? 1 : after.done ? -1 : compareEntries(before.value, after.value);
      yield [order <= 0 ? before.value! : null, order >= 0 ? after.value! : null];
      if (order <= 0) before = await first.next();
      if (order >= 0) after = await second.next();
    }
  } finally {
    await Promise.all([first.return(undefined), second.return(undefined)]);
  }
}

const compareEntries = (one: Entry, other: Entry) =>
  one.unit.index - other.unit.index || one.position - other.position;
