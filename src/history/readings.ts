import type { JsonObject } from '../base/json.ts';
import type { Offers } from '../jobs/offers.ts';
import { type RecordContext, readFileEntries, readRecords } from '../jobs/records.ts';
import type { UnitFilePack } from '../kinds/kind.ts';
import type { ItemReading } from '../markets/tracked.ts';
import type { Batch, Job } from '../store/documents.ts';
import { sourceOf } from '../store/item-ids.ts';

/** Dependencies of this module. */
export type ReadingsContext = RecordContext & { offers: Offers };

/** A reading of an item and the unit that found it. */
export interface FoundReading {
  reading: ItemReading;
  region: string;
  source: string;
  /** Time at which the record was collected, if it was reused. */
  collectedAt: number | null;
}

/** Yields the tracked items in the records of a batch, each once. Holds one batch of records, or one listing's line. */
export async function* readingsOf(
  context: ReadingsContext,
  job: Job,
  batch: Batch,
): AsyncGenerator<FoundReading> {
  const { market, kind } = context.offers.of(job);
  const readTracked = market.tracked?.[kind.page];
  if (!readTracked) return;
  const { region } = batch;
  const seen = new Set<string>();
  for await (const { record, index } of recordsOf(context, kind.files.unit, batch)) {
    const reading = readTracked(record);
    if (reading === null || seen.has(reading.key)) continue;
    seen.add(reading.key);
    const outcome = batch.outcomes[index];
    const collectedAt = outcome?.status === 'SUCCESS' ? (outcome.collectedAt ?? null) : null;
    yield { reading, region, source: sourceOf(batch.market, region, batch.units[index]!.key), collectedAt };
  }
}

/** Yields the records of a batch and the entries of its units' listings, with the index of the unit. */
async function* recordsOf(
  context: ReadingsContext,
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
