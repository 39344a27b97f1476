import { csvLine } from '../../base/csv.ts';
import { prefixFields, type RecordFields } from '../../quality/record-schema.ts';
import type { Outcome, Unit } from '../../store/batches.ts';
import type { Job } from '../../store/documents.ts';
import { bulkProgress } from '../bulk.ts';
import type { FilePack, JobSnapshot, Kind, Row, View } from '../kind.ts';
import { maxRows, plan, recentKey } from './plan.ts';

/** Returns the fields of a successful row in JSON Lines. */
const rowFields = (page: RecordFields): RecordFields => ({
  region: 'string',
  shop_id: 'string',
  item_id: 'string',
  status: 'string',
  ...prefixFields('response', page),
});

const asCsv = (job: Job) => job.params.resultFormat !== 'jsonl';

function csvRow(unit: Unit, outcome: Outcome, region: string): Row {
  const { shop_id: shop, item_id: item } = unit.input;
  const error = outcome.status === 'FAILED' ? outcome.message : null;
  const line = csvLine([region, String(shop), String(item), outcome.status, error, null]);
  return [line.slice(0, -2), line.slice(-2)];
}

function jsonLine(unit: Unit, outcome: Outcome, region: string): Row {
  const { shop_id: shopId, item_id: itemId } = unit.input;
  const error = outcome.status === 'FAILED' ? outcome.message : null;
  const line = JSON.stringify({
    region,
    shop_id: shopId,
    item_id: itemId,
    status: outcome.status,
    error,
  });
  return [`${line.slice(0, -1)},"response":${outcome.status === 'FAILED' ? 'null' : ''}`, '}\n'];
}

/** Writes every row with its page or its error, as CSV or JSON Lines. */
export const jobFile: FilePack = {
  name: (job) => `get_pc_bulk_${job.number}.${asCsv(job) ? 'csv' : 'jsonl'}`,
  contentType: (job) => (asCsv(job) ? 'text/csv; charset=utf-8' : 'application/x-ndjson'),
  gzip: false,
  encoding: (job) => (asCsv(job) ? 'csv' : 'plain'),
  whenAllFailed: true,
  head: (job) => (asCsv(job) ? 'region,shop_id,item_id,status,error,result\r\n' : ''),
  separator: '',
  row: (unit, outcome, { job, region }) =>
    asCsv(job) ? csvRow(unit, outcome, region) : jsonLine(unit, outcome, region),
  tail: () => '',
};

/** View of a task: its progress, and its file once compiled. */
const retrieve: View = {
  needs: ['counts'],
  show: async (snapshot) => ({
    taskId: snapshot.job.number,
    refunded: snapshot.job.refunded,
    ...(await bulkProgress(snapshot)),
    // Only this kind shows the state `terminated`.
    ...(snapshot.job.state === 'terminated' ? { status: 'terminated' } : {}),
  }),
};

/** Product pages of the rows of a CSV, in one CSV or JSON Lines file. */
export const getPcBulk: Kind = {
  name: 'get_pc_bulk',
  page: 'product',
  lane: 'bulk',
  batchSize: 50,
  maxUnits: maxRows,
  approval: false,
  workingHours: false,
  charge: 'submit',
  statusFrom: 'units',
  unqueued: 'refund',
  sequence: 'task',
  plan,
  recent: {
    key: recentKey,
    serves: (job) => job.params.rescrape === false,
  },
  price: 8,
  resultFields: rowFields,
  files: { job: jobFile },
  submittedNeeds: [],
  submitted,
  views: { retrieve },
  listed: (jobs) => ({ tasks: jobs.map(({ number }) => number) }),
};

/** Returns the response to a submission: the request, and the number of its task. */
function submitted({ job }: JobSnapshot) {
  return {
    ...job.params,
    taskId: job.number,
    status: 'processing',
    total: job.totalUnits,
    cost: job.cost,
    ...(job.refunded > 0 ? { refunded: job.refunded } : {}),
  };
}
