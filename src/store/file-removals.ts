import type { Collections } from './collections.ts';
import type { FileRemoval } from './documents.ts';

type Removals = Pick<Collections, 'fileRemovals'>;

/**
 * Time after a deletion at which the files are removed again, in milliseconds. It doubles each
 * time.
 */
const firstMs = 30_000;
/**
 * Time after a deletion from which no late write arrives, in milliseconds: more than twice the time
 * that an upload takes without progress.
 */
export const lastRemovalMs = 16 * 60_000;

/**
 * Stores that the files of a job are removed again, by the steady time. A later deletion starts
 * again.
 */
export async function storeRemoval(
  { fileRemovals }: Removals,
  jobId: string,
  steady: number,
): Promise<void> {
  await fileRemovals.upsert([{ jobId, deletedAt: steady, dueAt: steady + firstMs }]);
}

/** Starts removals again whose times a wrong clock wrote. */
export async function restartRemoval(
  { fileRemovals }: Removals,
  { jobId, deletedAt }: FileRemoval,
  steady: number,
): Promise<void> {
  const restarted = { deletedAt: steady, dueAt: steady + firstMs };
  await fileRemovals.update({ jobId, deletedAt }, restarted, { relaxed: true });
}

/** Sets the next time at which the files of a job are removed, or ends the removals. */
export async function advanceRemoval(
  { fileRemovals }: Removals,
  { jobId, deletedAt, dueAt }: FileRemoval,
): Promise<void> {
  const current = { jobId, deletedAt };
  const sinceMs = 2 * (dueAt - deletedAt);
  if (sinceMs > lastRemovalMs) await fileRemovals.remove(current, 1);
  else await fileRemovals.update(current, { dueAt: deletedAt + sinceMs }, { relaxed: true });
}
