import { csvLine } from '../../base/csv.ts';
import { prefixFields } from '../../base/record-shape.ts';
import type { Job, Outcome, Unit } from '../../store/documents.ts';
import type { FilePack, Row } from '../kind.ts';

/** Fields of a successful row in JSON Lines. */
export const rowFields = (page: string): string =>
  `region: string; shop_id: string; item_id: string; status: string; ${prefixFields('response', page)}`;

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
  const line = JSON.stringify({ region, shop_id: shopId, item_id: itemId, status: outcome.status, error });
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
