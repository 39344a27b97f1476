import type { Job, StoredFile } from '../../store/documents.ts';
import type { JobContext, StoreUse } from '../context.ts';
import { readPlaced, unitsOf } from '../placed.ts';

/** Dependencies of this module. */
export type ResultFilesContext = Pick<JobContext, 'links' | 'offers'> &
  StoreUse<'listBatches' | 'readBatches'>;

/** A result file and its scope. */
export interface ResultFile {
  file: StoredFile;
  scope: 'job' | 'batch' | 'unit';
  /** Index of the batch, or of the unit in the job. */
  index: number;
  /** Key of the unit; '' for other scopes. */
  key: string;
  /** Signed URL, valid for 7 days. */
  link: string;
  /** Signed URL of the service to the file, which takes a format; valid for 7 days. */
  recordsLink: string;
}

/**
 * Lists the files of a job: the merged file first, then those of its batches or units; none if they were deleted. Links to files of units also
 * require the owner's Bearer token.
 */
export async function listFiles(
  { store, offers, links }: ResultFilesContext,
  job: Job,
): Promise<ResultFile[]> {
  const { files } = offers.of(job).kind;
  const found: ResultFile[] = [];
  if (job.filesDeletedAt !== null) return found;
  const add = async (file: StoredFile, scope: ResultFile['scope'], index: number, key: string) => {
    const bearer = scope === 'unit';
    const recordsLink = links.records(job, file, bearer);
    found.push({ file, scope, index, key, link: await links.file(job, file, bearer), recordsLink });
  };
  if (job.file) await add(job.file, 'job', 0, '');
  if (files.batch) {
    for (const { file, seq } of await store.listBatches(job.id)) if (file) await add(file, 'batch', seq, '');
  }
  if (files.unit) {
    for await (const placed of readPlaced(store, job.id, ({ success }) => success > 0)) {
      for (const { outcome, index, unit } of unitsOf(job, placed)) {
        if (outcome?.status === 'SUCCESS' && outcome.file) await add(outcome.file, 'unit', index, unit.key);
      }
    }
  }
  return found;
}

/** Returns the name of a file without its folder. */
export function fileName({ path }: StoredFile): string {
  return path.slice(path.lastIndexOf('/') + 1);
}
