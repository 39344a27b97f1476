import { type Blobs, parsePath } from '../blobs/blobs.ts';
import { Fault } from '../contract/fault.ts';
import type { Store } from '../store/store.ts';
import { filesOfJob } from './copy-files.ts';

/** Result of an audit of the result storage. */
export interface FileAudit {
  /** Number of files in the storage. */
  files: number;
  /** One sentence per file that nothing refers to. */
  problems: string[];
}

/** Names of folders that the service creates: ids of jobs. */
const jobId = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/**
 * Finds files in the result storage that no job refers to: of deleted jobs, of jobs whose files
 * were deleted, and of lost attempts at a batch. Skips running jobs, whose files are being written,
 * and what the service did not write. Throws `unavailable`.
 */
export async function auditFiles(store: Store, blobs: Blobs): Promise<FileAudit> {
  const result: FileAudit = { files: 0, problems: [] };
  const check = async (id: string, paths: readonly string[]) => {
    const orphans = await findOrphans(store, id, paths);
    if (orphans !== null)
      result.problems.push(...orphans.paths.map((path) => `file ${path}: ${orphans.reason}`));
  };
  let current = '';
  let paths: string[] = [];
  for await (const path of blobs.list()) {
    result.files += 1;
    const folder = folderOf(path);
    if (folder !== current) {
      await check(current, paths);
      current = folder;
      paths = [];
    }
    paths.push(path);
  }
  await check(current, paths);
  return result;
}

/** Returns the folder of a path; an empty name if no job can have the file. */
function folderOf(path: string): string {
  try {
    return parsePath(path).jobId;
  } catch (error) {
    if (Fault.from(error).code !== 'not_found') throw error;
    return '';
  }
}

/** Returns the files of a folder that its job does not refer to, and why. */
async function findOrphans(
  store: Store,
  id: string,
  paths: readonly string[],
): Promise<{ paths: readonly string[]; reason: string } | null> {
  if (!jobId.test(id)) return null;
  const job = await store.jobs.get(id);
  if (job === null) return { paths, reason: 'its job does not exist' };
  if (job.finishedAt === null || job.fileDeletionDue) return null;
  if (job.filesDeletedAt !== null) return { paths, reason: 'the files of its job were deleted' };
  const files = await filesOfJob(store, job);
  return {
    paths: paths.filter((path) => !files.has(path)),
    reason: 'its job does not refer to it',
  };
}
