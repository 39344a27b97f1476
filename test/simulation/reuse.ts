import { type RecordContext, readRecords } from '../../src/jobs/records.ts';
import { maxAgeMs } from '../../src/jobs/reuse.ts';
import type { Job } from '../../src/store/documents.ts';
import type { ServedPages } from './outside.ts';

/**
 * Difference between the clocks of a process and of the simulation, and duration between a response and its storage,
 * in milliseconds.
 */
const toleranceMs = 90_000;

/**
 * Checks that a record is reused only by jobs with `max_age`, for the item that it was read for, and while it is young
 * enough, and that every other record was read for its own unit.
 */
export async function checkReuse(
  context: RecordContext,
  served: ServedPages,
  jobs: readonly Job[],
): Promise<string[]> {
  const problems: string[] = [];
  const firstUse = new Map<string, string>();
  for (const job of jobs) {
    const maxAge = maxAgeMs(job.options);
    const half = maxAge === null ? null : Math.ceil(job.unitPrice / 2);
    const report = (problem: string) => problems.push(`job ${job.id} (${job.kind}): ${problem}`);
    if (job.reusedUnitPrice !== half) report(`reused units cost ${job.reusedUnitPrice} of ${job.unitPrice}`);
    let reused = 0;
    for await (const batch of context.store.readBatches(job.id)) {
      for (const [index, body] of await readRecords(context, batch)) {
        const outcome = batch.outcomes[index];
        if (outcome?.status !== 'SUCCESS') continue;
        const place = `${batch.id} ${index}`;
        const { itemId, answer } = JSON.parse(Buffer.from(body).toString()) as Record<string, string>;
        const page = served.get(answer!);
        if (page?.item !== itemId || itemId !== String(batch.units[index]!.input.item_id))
          report(`unit ${place} has a record of ${itemId}, which was read for ${page?.item}`);
        if (outcome.collectedAt === undefined) {
          const other = firstUse.get(answer!);
          if (other !== undefined)
            report(`unit ${place} has the record of ${other} and is not marked as reused`);
          firstUse.set(answer!, place);
          continue;
        }
        reused += 1;
        if (maxAge === null) report(`unit ${place} reused a record without max_age`);
        else if (outcome.collectedAt < job.createdAt - maxAge - toleranceMs)
          report(`unit ${place} reused a record that is too old`);
        if (Math.abs(outcome.collectedAt - page!.at) > toleranceMs)
          report(`unit ${place} says that its record was read at ${outcome.collectedAt}, not at ${page!.at}`);
      }
    }
    if (job.counts !== null && (job.counts.units.reused ?? 0) !== reused)
      report(`says ${job.counts.units.reused} reused, its units ${reused}`);
  }
  return problems;
}
