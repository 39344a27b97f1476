import type { DescMessage, Message } from '@bufbuild/protobuf';
import { Fault, type Problem } from '../../contract/fault.ts';
import { batchFilePrefix } from '../../contract/files.ts';
import type { Market } from '../../markets/market.ts';
import type { Outcome, Unit } from '../../store/batches.ts';
import type { FilePack, Kind, Plan, Row, UnitPlace } from '../kind.ts';
import { download, item, retrieve, submitted } from './view.ts';

/** Fields of gleaner.mkta.v1.SubmitVariantSoldRequest. */
interface Request {
  country?: string;
  items: { itemId: string; shopId: string; country?: string }[];
}

const maxProblems = 100;

/**
 * Plans one unit per item, in the order submitted; duplicates are separate units. The country is
 * set on every item or once for the request, and a request has one country. Throws `invalid`, which
 * names each item whose country is missing or differs.
 */
export function plan(
  request: Message,
  _description: DescMessage,
  { regions }: Pick<Market, 'regions'>,
): Plan {
  const { country: common, items } = request as unknown as Request;
  const isRegion = (country: string | undefined) =>
    country !== undefined && regions.includes(country);
  // Other countries break a rule of the contract, so the items are not compared with them.
  const expected = isRegion(common)
    ? common
    : items.find(({ country }) => isRegion(country))?.country;
  const problems: Problem[] = [];
  const units = [];
  for (let index = 0; index < items.length && problems.length < maxProblems; index++) {
    const { itemId, shopId, country = common } = items[index]!;
    if (country === undefined) {
      problems.push({
        loc: ['body', 'items', index, 'country'],
        msg: 'Field required',
        type: 'missing',
      });
    } else if (country !== expected && isRegion(country)) {
      const msg = `One country per request: '${country}' is not '${expected}'`;
      problems.push({ loc: ['body', 'items', index, 'country'], msg, type: 'value_error' });
    }
    units.push({ key: itemId, input: { item_id: itemId, shop_id: shopId } });
  }
  if (problems.length > 0)
    throw new Fault('invalid', 'The items are not of one country.', { problems });
  const region = expected ?? '';
  return { groups: [{ region, units }], region, params: {} };
}

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
function failure(unit: Unit, error: string, { region }: UnitPlace): string {
  const { item_id: itemId, shop_id: shopId } = unit.input;
  return JSON.stringify({
    itemId,
    shopId,
    country: region,
    error,
  });
}

function row(unit: Unit, outcome: Outcome, context: UnitPlace): Row {
  return [outcome.status === 'FAILED' ? failure(unit, outcome.message, context) : '', ''];
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
  name: (_job, batch) => `${batchFilePrefix}${batch!.id}_${batch!.attempt}.json`,
};

/** Sold counts of items' variants, in batches of 50 items. Jobs need an operator's approval. */
export const variantSold: Kind = {
  name: 'variant_sold',
  page: 'variants',
  lane: 'bulk',
  batchSize: 50,
  approval: true,
  workingHours: true,
  charge: 'approval',
  statusFrom: 'batches',
  unqueued: 'refund',
  plan,
  price: 10,
  resultFields: (page) => page,
  files: { batch: batchFile, job: jobFile },
  submittedNeeds: [],
  submitted,
  views: { retrieve, download, item },
};
