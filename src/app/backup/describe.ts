import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import manifest from '../../../package.json' with { type: 'json' };
import { systemClock } from '../../base/clock.ts';
import type { Store } from '../../store/store.ts';
import { resultsFolder, storeFile } from '../stack.ts';
import { type Backup, type Copying, copyBlob, syncFile, withStore } from './copy-files.ts';
import { describeFile, type ManifestFile, writeManifest } from './manifest.ts';
import { referencedFiles } from './references.ts';

/**
 * Completes a backup: removes the files that its database does not refer to, verifies the others, and writes
 * the manifest.
 */
export async function describeBackup(
  folder: string,
  secrets: readonly string[],
  copying: Copying,
): Promise<Backup> {
  const database = join(folder, storeFile);
  const lost: string[] = [];
  const schemaVersion = await withStore(database, async (store) => {
    await removeUnknownJobs(folder, store, copying);
    return store.schemaVersion();
  });
  await syncFile(database);
  const files = async function* () {
    yield* describeResults(folder, copying, lost);
    for (const path of [...secrets, storeFile]) yield describeFile(folder, path);
  };
  const createdAt = new Date(systemClock.now()).toISOString();
  const header = { format: 'gleaner-backup-1', createdAt, program: manifest.version, schemaVersion } as const;
  const end = await writeManifest(folder, header, files(), () => copying.onStep('manifest'));
  return { ...end, lost };
}

/** Yields the result files, and adds the paths of missing or damaged ones to `lost`. */
async function* describeResults(
  folder: string,
  copying: Copying,
  lost: string[],
): AsyncGenerator<ManifestFile> {
  const { openSqliteStore } = await import('../../store/sqlite/open.ts');
  const store = openSqliteStore({ path: join(folder, storeFile) });
  try {
    for await (const { job, files } of referencedFiles(store)) {
      const copied = await copying.copy.listJob(job.id);
      await copying.copy.remove(copied.filter((path) => !files.has(path)));
      for (const { path, sha256 } of files.values()) {
        const described = await describeResult(folder, copying, path, sha256);
        if (described === null || (sha256 !== undefined && described.sha256 !== sha256)) lost.push(path);
        if (described !== null) yield described;
      }
    }
  } finally {
    await store.close();
  }
}

/**
 * Describes a result file, or returns null if it is missing. Copies a file again that was rewritten after its
 * copy.
 */
async function describeResult(
  folder: string,
  copying: Copying,
  path: string,
  sha256: string | undefined,
): Promise<ManifestFile | null> {
  if ((await copying.copy.size(path)) === null) return null;
  const describe = () => describeFile(folder, `${resultsFolder}/${path}`);
  const described = await describe();
  if (sha256 === undefined || described.sha256 === sha256) return described;
  return (await copyBlob(copying, path)) ? describe() : described;
}

/** Removes the files of jobs that were discarded after their files were copied. */
async function removeUnknownJobs(folder: string, store: Store, { copy }: Copying): Promise<void> {
  for (const entry of await readdir(join(folder, resultsFolder), { withFileTypes: true })) {
    if (entry.isDirectory() && !entry.name.startsWith('.') && (await store.jobs.get(entry.name)) === null)
      await copy.removeJob(entry.name);
  }
}
