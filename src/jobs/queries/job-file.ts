import type { JobFile } from '../../destination/job-file.ts';
import { createFormat, type FormatName, formatInfo } from '../../formats/format.ts';
import type { ExactObject } from '../../formats/json-text.ts';
import type { Job } from '../../store/documents.ts';
import type { StoreUse } from '../context.ts';
import { changedEntries, requireCompared } from './changed.ts';
import { requireResults } from './deleted-results.ts';
import { type RowsContext, readEntries, rowColumnsOf, rowsIn, rowsOf } from './rows.ts';

/** Dependencies of this module. */
type JobFileContext = RowsContext & StoreUse<'getChanges' | 'getTrackingRun'>;

/** Returns the records of an ended job in a format, as its option `only` selects them. Nothing is read until the file is. */
export function openJobFile(context: JobFileContext, job: Job, format: FormatName): JobFile {
  const { contentType, extension } = formatInfo[format];
  const write = createFormat(format, rowColumnsOf(context.offers.of(job)));
  const read = () => write(job.options.only === 'changed' ? changedRows(context, job) : rowsOf(context, job));
  return { contentType, extension: extension.slice(1), read };
}

async function* changedRows(context: JobFileContext, job: Job): AsyncGenerator<ExactObject> {
  requireResults(job);
  await requireCompared(context, job);
  yield* rowsIn(changedEntries(context, job, readEntries(context, job, {})));
}
