import type { Outcome, Unit } from '../../store/documents.ts';
import type { FilePack, Row, UnitPlace } from '../kind.ts';

/** Format of a JSON array with one record per item, in the order submitted. */
const records = {
  contentType: () => 'application/json',
  gzip: false,
  whenAllFailed: false,
  encoding: () => 'plain' as const,
  head: () => '[\n',
  separator: ',\n',
  tail: () => '\n]\n',
};

/** Returns the record of a failed item in the merged file. */
function failure(unit: Unit, error: string, place: UnitPlace): string {
  const { item_id: itemId, shop_id: shopId } = unit.input;
  return JSON.stringify({ itemId, shopId, country: place.region, error });
}

function row(unit: Unit, outcome: Outcome, place: UnitPlace): Row {
  return [outcome.status === 'FAILED' ? failure(unit, outcome.message, place) : '', ''];
}

/** Merged file `full_{job_id}.json`: every item; failed items have their error. */
export const jobFile: FilePack = {
  ...records,
  name: (job) => `full_${job.id}.json`,
  row,
};

/** File of a batch, in the format of the merged file. */
export const batchFile: FilePack = {
  ...jobFile,
  name: (_job, batch) => `batch_${batch!.id}_${batch!.attempt}.json`,
};
