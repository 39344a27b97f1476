import { isPageFile } from '../../jobs/kept-pages.ts';
import { filesOf, type ReferencedFile } from '../../jobs/steps/finalize-job.ts';
import { allOf } from '../../store/cursor.ts';
import type { Job } from '../../store/documents.ts';
import type { Store } from '../../store/store.ts';

/** Files in the result storage that a job and its batches refer to, by path. */
export interface JobFiles {
  job: Job;
  files: ReadonlyMap<string, ReferencedFile>;
}

const pageSize = 500;

/** Yields the files of every job of a store, one job at a time. */
export async function* referencedFiles(store: Store): AsyncGenerator<JobFiles> {
  for await (const job of allOf((page) => store.jobs.list({}, page), pageSize))
    yield { job, files: await filesOfJob(store, job) };
}

async function filesOfJob(store: Store, job: Job): Promise<Map<string, ReferencedFile>> {
  const files = new Map<string, ReferencedFile>();
  if (job.filesDeletedAt !== null) return files;
  for await (const batch of store.batches.read(job.id)) {
    for (const file of filesOf(batch))
      if (job.pagesUntil !== null || !isPageFile(file.path)) files.set(file.path, file);
  }
  if (job.file) files.set(job.file.path, job.file);
  return files;
}
