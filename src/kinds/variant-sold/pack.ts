import type { Outcome, Unit } from '../../store/documents.ts';
import type { FilePack, Row, UnitPlace } from '../kind.ts';

/** A JSON array with one record per item, in the order submitted (interface, rule 1). */
const records = {
  contentType: () => 'application/json',
  gzip: false,
  whenAllFailed: false,
  encoding: () => 'plain' as const,
  head: () => '[\n',
  separator: ',\n',
  tail: () => '\n]\n',
};

/** A failed item in the merged file (decisions, "merged variant-sold file"). */
function failure(unit: Unit, error: string, place: UnitPlace): string {
  const { item_id: itemId, shop_id: shopId } = unit.input;
  return JSON.stringify({ itemId, shopId, country: place.region, error });
}

function row(unit: Unit, outcome: Outcome, place: UnitPlace): Row {
  return [outcome.status === 'FAILED' ? failure(unit, outcome.message, place) : '', ''];
}

/** `full_{job_id}.json`: every item, failed ones with their reason. */
export const jobFile: FilePack = {
  ...records,
  name: (job) => `full_${job.id}.json`,
  row,
};

/** A batch's file: the same, of its items. */
export const batchFile: FilePack = {
  ...jobFile,
  name: (_job, batch) => `batch_${batch!.id}_${batch!.attempt}.json`,
};
