import type { Job, StoredFile } from '../store/documents.ts';
import type { JobContext } from './context.ts';
import { readPlaced, unitsOf } from './placed.ts';

/** A result file of a job, and whose results are inside. */
export interface ResultFile {
  file: StoredFile;
  scope: 'job' | 'batch' | 'unit';
  /** Place of the batch, or of the unit in the job. */
  index: number;
  /** What the unit is known by; '' for other files. */
  key: string;
  /** Signed, good for 7 days. */
  link: string;
}

/**
 * The files of a job that are there now: the merged one first, then those of its batches or units. Links to
 * units' files need the owner's Bearer token, too (interface, "Authentication", 5).
 */
export async function listFiles({ store, offers, links }: JobContext, job: Job): Promise<ResultFile[]> {
  const { files } = offers.of(job).kind;
  const found: ResultFile[] = [];
  const add = async (file: StoredFile, scope: ResultFile['scope'], index: number, key: string) => {
    found.push({ file, scope, index, key, link: await links.file(job, file, scope === 'unit') });
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

/** Name to save a file under. */
export function fileName({ path }: StoredFile): string {
  return path.slice(path.lastIndexOf('/') + 1);
}
