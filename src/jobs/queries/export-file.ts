import { Fault } from '../../contract/fault.ts';
import { problemText } from '../../contract/problem-texts.ts';
import { createFormat, formatInfo, formatNames, isFormatName } from '../../formats/format.ts';
import type { Job } from '../../store/documents.ts';
import type { StoreUse } from '../context.ts';
import { readPlaced, unitsOf } from '../placed.ts';
import { changedEntries, requireCompared } from './changed.ts';
import { limitConversion } from './conversions.ts';
import { type RowScope, type RowsContext, readEntries, rowColumnsOf, rowsIn } from './rows.ts';

/** Dependencies of this module. */
export type ExportFileContext = RowsContext & StoreUse<'getChanges' | 'getJob' | 'getTrackingRun'>;

/** Records of a result file in another format. */
export interface ExportedFile {
  contentType: string;
  /** Name to save the records under. */
  fileName: string;
  bytes: AsyncIterable<Uint8Array>;
}

/**
 * Returns the records of a result file, `<job id>/<file name>`, as a table; with `only: 'changed'` those of items that
 * changed since the last run. Faults `invalid` for an unknown format or filter, `results_deleted` for a file that no job
 * has any more, and those of requireCompared() and limitConversion().
 */
export async function exportFile(
  context: ExportFileContext,
  path: string,
  { format, only }: { format: string; only: string },
): Promise<ExportedFile> {
  if (!isFormatName(format)) throw notOneOf('format', formatNames, format);
  if (only !== '' && only !== 'changed') throw notOneOf('only', ['changed'], only);
  const [jobId = '', name = ''] = path.split('/');
  const job = await context.store.getJob(jobId);
  const scope = job && (await scopeOf(context, job, path));
  if (job === null || scope === null) throw new Fault('results_deleted', 'This file was deleted.');
  if (only !== '') await requireCompared(context, job, ['query', 'only']);
  const all = readEntries(context, job, scope);
  const entries = only === '' ? all : changedEntries(context, job, all);
  const { contentType, extension } = formatInfo[format];
  return {
    contentType,
    fileName: `${name.replace(/\.gz$/, '').replace(/\.[a-z]+$/, '')}${extension}`,
    bytes: limitConversion(job, createFormat(format, rowColumnsOf(context.offers.of(job)))(rowsIn(entries))),
  };
}

function notOneOf(param: string, known: readonly string[], value: string): Fault {
  const { msg, type } = problemText.notOneOf(known, value);
  return Fault.invalid(['query', param], msg, type);
}

/** Returns the units whose records are in a file; null if the job does not have the file. */
async function scopeOf({ store }: ExportFileContext, job: Job, path: string): Promise<RowScope | null> {
  if (job.filesDeletedAt !== null) return null;
  if (job.file?.path === path) return {};
  const batches = await store.listBatches(job.id);
  const batch = batches.find(({ file }) => file?.path === path);
  if (batch) return { batch: batch.seq };
  for await (const placed of readPlaced(store, job.id, ({ success }) => success > 0)) {
    for (const { index, outcome } of unitsOf(job, placed))
      if (outcome?.status === 'SUCCESS' && outcome.file?.path === path) return { unit: index };
  }
  return null;
}
