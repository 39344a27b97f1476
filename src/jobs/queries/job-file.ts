import type { JobFile } from '../../destination/job-file.ts';
import { createFormat, type FormatName, formatInfo } from '../../formats/format.ts';
import type { Job } from '../../store/documents.ts';
import { type RowsContext, rowColumnsOf, rowsOf } from './rows.ts';

/** Returns the records of an ended job in a format. Nothing is read until the file is. */
export function openJobFile(context: RowsContext, job: Job, format: FormatName): JobFile {
  const { contentType, extension } = formatInfo[format];
  const write = createFormat(format, rowColumnsOf(context.offers.of(job)));
  return { contentType, extension: extension.slice(1), read: () => write(rowsOf(context, job)) };
}
