import type { JobContext } from '../../src/jobs/context.ts';
import { readFileEntries, readRecords } from '../../src/jobs/records.ts';
import { maxAgeMs } from '../../src/jobs/reuse.ts';
import type { Batch, Outcome } from '../../src/store/batches.ts';
import type { Job } from '../../src/store/documents.ts';
import type { ServedPages } from './outside.ts';

/**
 * Difference between the clocks of a process and of the simulation, and duration between a response
 * and its storage, in milliseconds.
 */
const toleranceMs = 90_000;

/** The parts of a simulated record that tell where it is from. */
interface Origin {
  itemId: string;
  /** Id of the response. */
  response: string;
}

/** A successful unit with its records: one, or the entries of its file. */
interface Collected {
  index: number;
  outcome: Extract<Outcome, { status: 'SUCCESS' }>;
  records: Origin[];
}

/**
 * Checks that a record or a file is reused only by jobs with `max_age`, for the item that it was
 * read for, and while it is young enough, and that every other one was read for its own unit.
 */
export async function checkReuse(
  context: JobContext,
  served: ServedPages,
  jobs: readonly Job[],
): Promise<string[]> {
  const problems: string[] = [];
  const firstUse = new Map<string, string>();
  for (const job of jobs) {
    const maxAge = maxAgeMs(job.options);
    const half = maxAge === null ? null : Math.ceil(job.unitPrice / 2);
    const report = (problem: string) => problems.push(`job ${job.id} (${job.kind}): ${problem}`);
    if (job.reusedUnitPrice !== half)
      report(`reused units cost ${job.reusedUnitPrice} of ${job.unitPrice}`);
    let reused = 0;
    for await (const batch of context.store.batches.read(job.id)) {
      for await (const unit of collectedIn(context, job, batch)) {
        checkOrigins(served, firstUse, batch, unit, report);
        const { collectedAt } = unit.outcome;
        if (collectedAt === undefined) continue;
        reused += 1;
        if (maxAge === null)
          report(`unit ${batch.id} ${unit.index} reused a record without max_age`);
        else if (collectedAt < job.createdAt - maxAge - toleranceMs)
          report(`unit ${batch.id} ${unit.index} reused a record that is too old`);
      }
    }
    if (job.counts !== null && (job.counts.units.reused ?? 0) !== reused)
      report(`says ${job.counts.units.reused} reused, its units ${reused}`);
  }
  return problems;
}

/**
 * Checks that the records of a unit were served for its item, and marked with their time if they
 * were reused.
 */
function checkOrigins(
  served: ServedPages,
  firstUse: Map<string, string>,
  batch: Batch,
  { index, outcome: { collectedAt }, records }: Collected,
  report: (problem: string) => void,
): void {
  const place = `${batch.id} ${index}`;
  const { item_id, shop_id } = batch.units[index]!.input;
  for (const { itemId, response } of records) {
    const page = served.get(response);
    if (page?.item !== itemId || itemId !== String(item_id ?? shop_id))
      report(`unit ${place} has a record of ${itemId}, which was read for ${page?.item}`);
    if (collectedAt !== undefined) continue;
    const other = firstUse.get(response);
    if (other !== undefined)
      report(`unit ${place} has the record of ${other} and is not marked as reused`);
    firstUse.set(response, place);
  }
  // A file is marked with the start of its reading.
  const at = served.get(records[0]?.response ?? '')?.at;
  if (collectedAt !== undefined && !(Math.abs(collectedAt - at!) <= toleranceMs))
    report(`unit ${place} says that its record was read at ${collectedAt}, not at ${at}`);
}

/** Yields the successful units of a batch. */
async function* collectedIn(
  context: JobContext,
  job: Job,
  batch: Batch,
): AsyncGenerator<Collected> {
  const records = new Map(await Array.fromAsync(readRecords(context, batch)));
  for (const index of batch.units.keys()) {
    const outcome = batch.outcomes[index];
    if (outcome?.status !== 'SUCCESS') continue;
    if (outcome.file) {
      const pack = context.jobTypes.of(job).kind.files.unit!;
      const entries = await Array.fromAsync(readFileEntries(context, pack, outcome.file));
      yield { index, outcome, records: entries.map(({ text }) => JSON.parse(text) as Origin) };
    } else
      yield {
        index,
        outcome,
        records: [JSON.parse(Buffer.from(records.get(index)!).toString()) as Origin],
      };
  }
}
