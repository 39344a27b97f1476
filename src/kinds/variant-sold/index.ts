import type { DescMessage, Message } from '@bufbuild/protobuf';
import { Fault, type Problem } from '../../contract/fault.ts';
import { batchFilePrefix } from '../../contract/files.ts';
import type { Market } from '../../markets/market.ts';
import type { Outcome, Unit } from '../../store/batches.ts';
import {
  aggregate,
  approvalStatus,
  batchStatus,
  isRejected,
  unitStatus,
} from '../../store/job-states.ts';
import type { FilePack, JobSnapshot, Kind, Plan, Row, UnitPlace, View } from '../kind.ts';
import { inputText } from '../unit-members.ts';

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

export function submitted({ job }: JobSnapshot) {
  return {
    jobId: job.id,
    status: job.state === 'awaiting_approval' ? 'awaiting_approval' : 'initializing',
    cost: job.cost,
    refunded: job.refunded,
    totalItems: job.totalUnits,
    totalBatches: job.totalBatches,
  };
}

/** Shows the state, the progress and every batch with a fresh link. */
export const retrieve: View = {
  needs: ['batches'],
  async show({ job, batches = [], link }) {
    const details = await Promise.all(
      batches.map(async (batch) => ({
        batchId: batch.id,
        country: batch.region,
        status: batchStatus(batch, job),
        ...(batch.file && batch.success > 0 ? { downloadUrl: await link(batch.file) } : {}),
      })),
    );
    const countStatus = (status: string) =>
      details.filter((batch) => batch.status === status).length;
    const counts = {
      total: details.length,
      success: countStatus('SUCCESS'),
      failed: countStatus('FAILED'),
    };
    return {
      jobId: job.id,
      status: approvalStatus(job, counts),
      jobStatus: derived(counts),
      progress: `${counts.success + counts.failed}/${counts.total} batches complete`,
      batches: details,
    };
  },
};

/** Returns the status that follows from the batches. */
function derived({
  total,
  success,
  failed,
}: {
  total: number;
  success: number;
  failed: number;
}): string {
  if (success + failed === 0) return 'pending';
  return success + failed < total ? 'processing' : aggregate(success, failed);
}

/** Shows the counts of items, and the merged file once it is written. */
export const download: View = {
  needs: ['counts'],
  async show({ job, counts, link }) {
    const { units, batches } = counts!;
    return {
      jobId: job.id,
      status: approvalStatus(job, batches),
      totalItems: job.totalUnits,
      successCount: units.success,
      failedCount: isRejected(job) ? job.totalUnits : units.failed,
      ...(job.file && units.success > 0 ? { downloadUrl: await link(job.file) } : {}),
    };
  },
};

/** Shows one item with its record. */
export const item: View = {
  needs: [{ unit: 'itemId' }],
  show({ job, unit: found }) {
    const { unit, outcome, batch, payload } = found!;
    const status = unitStatus(outcome, job);
    const rejection = `The job was rejected. ${job.reason}`.trim();
    const failure = outcome?.status === 'FAILED' ? outcome.message : rejection;
    return {
      jobId: job.id,
      itemId: inputText(unit, 'item_id'),
      shopId: inputText(unit, 'shop_id'),
      country: batch.region,
      status,
      ...(payload === null ? {} : { data: payload }),
      ...(status === 'FAILED' ? { errorLog: failure } : {}),
    };
  },
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
