import type { Job } from '../../store/documents.ts';
import type { JobContext, StoreUse } from '../context.ts';
import { readPlaced, unitsOf } from '../placed.ts';
import { type RecordContext, readRecords } from '../records.ts';
import { requireResults } from './deleted-results.ts';
import { fileName } from './result-files.ts';

/** Dependencies of this module. */
export type ResultsContext = Pick<JobContext, 'links'> &
  StoreUse<'listBatches' | 'readBatches'> &
  RecordContext;

/**
 * Returns a job's results so far, one JSON line per successful unit in submission order. `record` is copied byte for
 * byte; units with a file have `file` instead. At most one batch of records is in memory. Fault `results_deleted`.
 */
export function results(context: ResultsContext, job: Job): AsyncGenerator<string | Uint8Array> {
  requireResults(job);
  return lines(context, job);
}

/** Returns the member of a line that marks a reused record. */
const reusedMember = ({ collectedAt }: { collectedAt?: number }) =>
  collectedAt === undefined ? {} : { collected_at: new Date(collectedAt).toISOString() };

async function* lines(context: ResultsContext, job: Job): AsyncGenerator<string | Uint8Array> {
  const { store } = context;
  for await (const placed of readPlaced(store, job.id, ({ success }) => success > 0)) {
    const records = await readRecords(context, placed.batch);
    for (const { index, batchId, region, unit, outcome } of unitsOf(job, placed)) {
      if (outcome?.status !== 'SUCCESS') continue;
      const { key, input } = unit;
      const line = JSON.stringify({ index, batch_id: batchId, key, region, input, ...reusedMember(outcome) });
      if (outcome.file) {
        yield `${line.slice(0, -1)},"file":${JSON.stringify(await fileJson(context, job, outcome.file))}}\n`;
        continue;
      }
      yield `${line.slice(0, -1)},"record":`;
      yield records.get(index - placed.first) ?? 'null';
      yield '}\n';
    }
  }
}

async function fileJson({ links }: ResultsContext, job: Job, file: NonNullable<Job['file']>) {
  const { contentType, items, bytes, sha256 } = file;
  return {
    name: fileName(file),
    content_type: contentType,
    items,
    bytes,
    sha256,
    download_url: await links.file(job, file, true),
  };
}
