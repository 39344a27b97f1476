import type { JsonObject } from '../base/json.ts';
import type { JobContext } from '../jobs/context.ts';
import { readFileEntries, readRecords } from '../jobs/records.ts';
import type { UnitFilePack } from '../kinds/kind.ts';
import { itemRegion } from '../markets/lookup.ts';
import type { ItemReading } from '../markets/tracked.ts';
import type { Batch } from '../store/batches.ts';
import type { Job } from '../store/documents.ts';

/** A reading of an item and the unit that found it. */
export interface FoundReading {
  reading: ItemReading & { key: string };
  region: string;
  /** Key of the unit. */
  unitKey: string;
  /** Time at which the page was read. */
  readAt: number;
  /** True if the record was read for an earlier job. */
  isReused: boolean;
  /** True if the batch contained the item before. */
  isRepeated: boolean;
}

/**
 * Yields the tracked items in the records of a batch, each once for every unit that listed it.
 * Holds one batch of records, or one listing's line.
 */
export async function* readingsOf(
  context: JobContext,
  job: Job,
  batch: Batch,
): AsyncGenerator<FoundReading> {
  const { market, kind } = context.jobTypes.of(job);
  const readTracked = market.tracked?.[kind.page];
  if (!readTracked) return;
  const seen = new Set<string>();
  const seenInUnit = new Set<string>();
  let unit = -1;
  for await (const { record, index } of recordsOf(context, kind.files.unit, batch)) {
    const outcome = batch.outcomes[index];
    if (outcome?.status !== 'SUCCESS') continue;
    if (index !== unit) seenInUnit.clear();
    unit = index;
    const item = readTracked(record);
    if (!isIdentified(item) || seenInUnit.has(item.key)) continue;
    seenInUnit.add(item.key);
    const unitKey = batch.units[index]!.key;
    const region = itemRegion(market, batch.region, unitKey);
    const regionItem = `${region} ${item.key}`;
    yield {
      reading: item,
      region,
      unitKey,
      readAt: outcome.readAt,
      isReused: outcome.collectedAt !== undefined,
      isRepeated: seen.has(regionItem),
    };
    seen.add(regionItem);
  }
}

const isIdentified = (item: ItemReading | null): item is FoundReading['reading'] =>
  item !== null && item.key !== null;

/**
 * Yields the records of a batch and the entries of its units' listings, with the index of the unit.
 */
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
