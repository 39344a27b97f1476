import type { JobFile } from '../../destination/job-file.ts';
import { type FormatName, formatInfo } from '../../formats/format.ts';
import type { Job } from '../../store/documents.ts';
import { type ResultsContext, results } from './results.ts';

/** Returns the results of an ended job in a format. Nothing is read until the file is. */
export function openJobFile(context: ResultsContext, job: Job, format: FormatName): JobFile {
  const { contentType, extension } = formatInfo[format];
  return {
    contentType,
    extension: extension.slice(1),
    async *read() {
      for await (const chunk of results(context, job)) yield Buffer.from(chunk as string);
    },
  };
}
