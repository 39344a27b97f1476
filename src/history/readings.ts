import type { JsonObject } from '../base/json.ts';
import type { JobContext } from '../jobs/context.ts';
import { readFileEntries, readRecords } from '../jobs/records.ts';
import type { UnitFilePack } from '../kinds/kind.ts';
import type { ItemReading } from '../markets/tracked.ts';
import type { Batch } from '../store/batches.ts';
import type { Job } from '../store/documents.ts';
import { sourceOf } from '../store/history-ids.ts';

/** A reading of an item and the unit that found it. */
export interface FoundReading {
  reading: ItemReading;
  region: string;
  source: string;
  /** Time at which the page was read. Null if it is not known. */
  readAt: number | null;
  /** True if the record was read for an earlier job. */
  isReused: boolean;
}

/**
 * Yields the tracked items in the records of a batch, each once. Holds one batch of records, or one listing's
 * line.
 */
export async function* readingsOf(context: JobContext, job: Job, batch: Batch): AsyncGenerator<FoundReading> {
  const { market, kind } = context.jobTypes.of(job);
  const readTracked = market.tracked?.[kind.page];
  if (!readTracked) return;
  const { region } = batch;
  const seen = new Set<string>();
  for await (const { record, index } of recordsOf(context, kind.files.unit, batch)) {
    const reading = readTracked(record);
    if (reading === null || seen.has(reading.key)) continue;
    seen.add(reading.key);
    const outcome = batch.outcomes[index];
    const { readAt, collectedAt } = outcome?.status === 'SUCCESS' ? outcome : {};
    yield {
      ...{ reading, region, source: sourceOf(batch.market, region, batch.units[index]!.key) },
      readAt: readAt ?? collectedAt ?? null,
      isReused: collectedAt !== undefined,
    };
  }
}

/** Yields the records of a batch and the entries of its units' listings, with the index of the unit. */
async function* recordsOf(
  context: JobContext,
  pack: UnitFilePack | undefined,
  batch: Batch,
): AsyncGenerator<{ record: JsonObject; index: number }> {
  for await (const [index, bytes] of readRecords(context, batch))
    yield { record: JSON.parse(Buffer.from(bytes).toString()) as JsonObject, index };
  for (const index of batch.units.keys()) {
    const outcome = batch.outcomes[index];
    if (outcome?.status !== 'SUCCESS' || !outcome.file) continue;
    for await (const { text } of readFileEntries(context, pack!, outcome.file))
      yield { record: JSON.parse(text) as JsonObject, index };
  }
}
