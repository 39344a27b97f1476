import { csvField } from '../../base/csv.ts';
import type { Job, Outcome, Unit } from '../../store/documents.ts';
import type { FilePack, UnitPlace } from '../kind.ts';

const asCsv = (job: Job) => job.params.resultFormat !== 'jsonl';

function csvRow(unit: Unit, outcome: Outcome, payload: Uint8Array | undefined, region: string): string {
  const { shop_id: shop, item_id: item } = unit.input;
  const error = outcome.status === 'FAILED' ? outcome.message : '';
  const result = payload === undefined ? '' : csvField(Buffer.from(payload).toString('utf8'));
  return `${region},${shop},${item},${outcome.status},${csvField(error)},${result}\r\n`;
}

function jsonLine(
  unit: Unit,
  outcome: Outcome,
  payload: Uint8Array | undefined,
  region: string,
): (string | Uint8Array)[] {
  const { shop_id: shopId, item_id: itemId } = unit.input;
  const error = outcome.status === 'FAILED' ? outcome.message : null;
  const line = JSON.stringify({ region, shop_id: shopId, item_id: itemId, status: outcome.status, error });
  return [`${line.slice(0, -1)},"response":`, payload ?? 'null', '}\n'];
}

/** Every row with its page or its reason, as CSV or JSON Lines (decisions, "get_pc_bulk CSV result"). */
export const jobFile: FilePack = {
  name: (job) => `get_pc_bulk_${job.number}.${asCsv(job) ? 'csv' : 'jsonl'}`,
  contentType: (job) => (asCsv(job) ? 'text/csv; charset=utf-8' : 'application/x-ndjson'),
  gzip: false,
  whenAllFailed: true,
  head: (job) => (asCsv(job) ? 'region,shop_id,item_id,status,error,result\r\n' : ''),
  unit(unit, outcome, payload, { job, region }: UnitPlace) {
    return asCsv(job) ? [csvRow(unit, outcome, payload, region)] : jsonLine(unit, outcome, payload, region);
  },
  tail: () => '',
};
