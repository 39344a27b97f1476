import { existsSync, readdirSync, rmSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { systemClock } from '../base/clock.ts';
import { type Config, ConfigError } from '../base/config.ts';
import { openPrivateFolder } from '../base/data-dir.ts';
import { packageVersion } from '../base/package-folder.ts';
import { openFiles } from '../blobs/files/open.ts';
import { Fault } from '../contract/fault.ts';
import { secretsFile } from '../links/secrets.ts';
import { requireData } from '../stack/data-folder.ts';
import { openBlobs, resultsFolder, storeFile } from '../stack/stack.ts';
import type { Store } from '../store/store.ts';
import {
  type Backup,
  type BackupStep,
  type Copying,
  copyBlob,
  copySecrets,
  type JobFiles,
  referencedFiles,
  syncFile,
  withStore,
} from './copy-files.ts';
import { describeFile, type ManifestFile, writeManifest } from './manifest.ts';
import { copyMovedRows, type StorePair } from './moved-rows.ts';

/**
 * Maximum copies of the database. The service may replace files between a copy of the database and
 * the copy of its files. Each further copy takes less time, because it only adds the new files.
 */
const maxRounds = 20;

/**
 * Backs up the embedded stack to a new folder, also while a service runs: the database, the result
 * files that it refers to, and the secrets of the service. The manifest is written last, so a
 * folder without one is incomplete. Throws a ConfigError on the distributed stack, without data, or
 * if the folder is not empty.
 */
export async function createBackup(
  config: Config,
  target: string,
  onStep: (step: BackupStep) => void = () => {},
): Promise<Backup> {
  const folder = resolve(target);
  if (config.mongoUri !== null)
    throw new ConfigError(
      'backup copies the embedded stack. ' +
        'Back up MongoDB and the result files with their own tools.',
    );
  await requireData(config);
  requireEmpty(folder);
  openPrivateFolder(folder);
  const [source, copy] = [
    await openBlobs(config),
    openFiles({ directory: join(folder, resultsFolder) }),
  ];
  const copying: Copying = { source, copy, onStep };
  try {
    await copyData(config, folder, copying);
    onStep('files');
    const secrets = (await copySecrets(config.dataDir, folder)) ? [secretsFile] : [];
    onStep('secrets');
    return await describeBackup(folder, secrets, copying);
  } finally {
    await source.close();
    await copy.close();
  }
}

/** Throws a ConfigError unless a folder is empty or does not exist. */
export function requireEmpty(folder: string): void {
  if (existsSync(folder) && readdirSync(folder).length > 0)
    throw new ConfigError(
      `The folder ${folder} is not empty. Choose a new folder, or empty this one.`,
    );
}

/** Copies the database and its files until no file was replaced in between. */
async function copyData(config: Config, folder: string, copying: Copying): Promise<void> {
  const { copyDataFile } = await import('../store/sqlite/snapshot.ts');
  const database = join(folder, storeFile);
  const original = join(config.dataDir, storeFile);
  let before = new Set<string>();
  for (let round = 0; round < maxRounds; round += 1) {
    rmSync(database, { force: true });
    copyDataFile(original, database);
    copying.onStep('database');
    const missing = await withStore(database, (copied) =>
      withStore(original, (current) => copyResults({ copied, current }, copying)),
    );
    // A file that is missing for the second time was not replaced, but lost.
    if ([...missing].every((path) => before.has(path))) return;
    before = missing;
  }
  throw new Fault(
    'unavailable',
    `the service replaces its files faster than they are copied to ${folder}`,
  );
}

/** Copies the files that the copied database refers to. Returns the paths of missing ones. */
async function copyResults(stores: StorePair, copying: Copying): Promise<Set<string>> {
  const missing = new Set<string>();
  for await (const { job, files } of referencedFiles(stores.copied)) {
    const absent = await copyFiles(files, copying);
    if (absent.length > 0) await copyMovedRows(stores, job.id, copying);
    for (const path of absent) if ((await copying.copy.size(path)) === null) missing.add(path);
  }
  return missing;
}

/** Copies the files that the backup lacks. Returns the paths of files that do not exist. */
async function copyFiles(files: JobFiles['files'], copying: Copying): Promise<string[]> {
  const absent: string[] = [];
  for (const path of files.keys()) {
    if ((await copying.copy.size(path)) !== null) continue;
    if (await copyBlob(copying, path)) copying.onStep('file');
    else absent.push(path);
  }
  return absent;
}

/**
 * Completes a backup: removes the files that its database does not refer to, verifies the others,
 * and writes the manifest.
 */
async function describeBackup(
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
  const header = {
    format: 'gleaner-backup-1',
    createdAt,
    program: packageVersion,
    schemaVersion,
  } as const;
  const end = await writeManifest(folder, header, files(), () => copying.onStep('manifest'));
  return { ...end, lost };
}

/** Yields the result files, and adds the paths of missing or damaged ones to `lost`. */
async function* describeResults(
  folder: string,
  copying: Copying,
  lost: string[],
): AsyncGenerator<ManifestFile> {
  const { openSqliteStore } = await import('../store/sqlite/open.ts');
  const store = openSqliteStore({ path: join(folder, storeFile) });
  try {
    for await (const { job, files } of referencedFiles(store)) {
      const copied = await copying.copy.listJob(job.id);
      await copying.copy.remove(copied.filter((path) => !files.has(path)));
      for (const { path, sha256 } of files.values()) {
        const described = await describeResult(folder, copying, path, sha256);
        if (described === null || (sha256 !== undefined && described.sha256 !== sha256))
          lost.push(path);
        if (described !== null) yield described;
      }
    }
  } finally {
    await store.close();
  }
}

/**
 * Describes a result file, or returns null if it is missing. Copies a file again that was rewritten
 * after its copy.
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
    if (
      entry.isDirectory() &&
      !entry.name.startsWith('.') &&
      (await store.jobs.get(entry.name)) === null
    )
      await copy.removeJob(entry.name);
  }
}
