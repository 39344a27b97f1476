import type { Job } from '../store/documents.ts';
import type { JobContext } from './context.ts';
import { readPlaced, unitsOf } from './placed.ts';
import { readRecords } from './records.ts';
import { fileName } from './result-files.ts';

/**
 * What a job has so far, one line of JSON per successful unit in the order submitted. Records go out as the
 * bytes that were stored; units whose results are files carry `file` instead. A batch's records are in
 * memory at once, and only once what is before them was taken.
 */
export async function* results(context: JobContext, job: Job): AsyncGenerator<string | Uint8Array> {
  const { store } = context;
  for await (const placed of readPlaced(store, job.id, ({ success }) => success > 0)) {
    const records = await readRecords(context, placed.batch);
    for (const { index, batchId, region, unit, outcome } of unitsOf(job, placed)) {
      if (outcome?.status !== 'SUCCESS') continue;
      const { key, input } = unit;
      const line = JSON.stringify({ index, batch_id: batchId, key, region, input });
      if (outcome.file) {
        yield `${line.slice(0, -1)},"file":${JSON.stringify(await shownFile(context, job, outcome.file))}}\n`;
        continue;
      }
      yield `${line.slice(0, -1)},"record":`;
      yield records.get(index - placed.first) ?? 'null';
      yield '}\n';
    }
  }
}

async function shownFile({ links }: JobContext, job: Job, file: NonNullable<Job['file']>) {
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
