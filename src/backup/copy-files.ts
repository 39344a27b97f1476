import { existsSync } from 'node:fs';
import { copyFile, open } from 'node:fs/promises';
import { join } from 'node:path';
import { openPrivateFolder, restrictFile } from '../base/data-dir.ts';
import type { Blobs } from '../blobs/blobs.ts';
import { Fault } from '../contract/fault.ts';
import { isPageFile } from '../jobs/kept-pages.ts';
import { filesOf, type ReferencedFile } from '../jobs/steps/merged-file.ts';
import { secretsFile } from '../links/secrets.ts';
import { allOf } from '../store/cursor.ts';
import type { Job } from '../store/documents.ts';
import type { Store } from '../store/store.ts';
import type { ManifestEnd } from './manifest.ts';

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

/** Returns the files of a job. Empty if they were deleted. */
export async function filesOfJob(store: Store, job: Job): Promise<Map<string, ReferencedFile>> {
  const files = new Map<string, ReferencedFile>();
  if (job.filesDeletedAt !== null) return files;
  for await (const batch of store.batches.read(job.id)) {
    for (const file of filesOf(batch))
      if (job.pagesUntil !== null || !isPageFile(file.path)) files.set(file.path, file);
  }
  if (job.file) files.set(job.file.path, job.file);
  return files;
}

/** A step of a backup, reported before the next one begins. */
export type BackupStep = 'database' | 'file' | 'files' | 'secrets' | 'manifest';

/** Files of a backup, or of a move. */
export interface Backup extends ManifestEnd {
  /**
   * Result files that the database refers to but the result storage does not have, or not with that
   * digest.
   */
  lost: string[];
}

/** The result storages of a backup. */
export interface Copying {
  source: Blobs;
  copy: Blobs;
  onStep: (step: BackupStep) => void;
}

/** Copies a file in blocks. Returns false if it does not exist. */
export async function copyBlob({ source, copy }: Copying, path: string): Promise<boolean> {
  try {
    await copy.write(path, 'application/octet-stream', await source.read(path), () => 0);
    return true;
  } catch (error) {
    if (error instanceof Fault && error.code === 'not_found') return false;
    throw error;
  }
}

/** Opens the store in a data file for a function. */
export async function withStore<T>(path: string, call: (store: Store) => Promise<T>): Promise<T> {
  const { openSqliteStore } = await import('../store/sqlite/open.ts');
  const store = openSqliteStore({ path });
  try {
    return await call(store);
  } finally {
    await store.close();
  }
}

/**
 * Copies the generated secrets to another data folder or a backup (mode 0600), unless it has its
 * own. Returns true if there are any.
 */
export async function copySecrets(source: string, target: string): Promise<boolean> {
  const [from, to] = [join(source, secretsFile), join(target, secretsFile)];
  if (!existsSync(from)) return false;
  if (existsSync(to)) return true;
  openPrivateFolder(target);
  await copyFile(from, to);
  restrictFile(to);
  await syncFile(to);
  return true;
}

/** Flushes a file to disk. */
export async function syncFile(path: string): Promise<void> {
  const handle = await open(path, 'r+');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}
