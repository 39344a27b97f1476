import { existsSync, readdirSync, rmSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { secretsFile } from '../../access/links/secrets.ts';
import { type Config, ConfigError } from '../../base/config.ts';
import { openPrivateFolder } from '../../base/data-dir.ts';
import { openFiles } from '../../blobs/files/open.ts';
import { Fault } from '../../contract/fault.ts';
import { requireData } from '../data-folder.ts';
import { openBlobs, resultsFolder, storeFile } from '../stack.ts';
import {
  type Backup,
  type BackupStep,
  type Copying,
  copyBlob,
  copySecrets,
  withStore,
} from './copy-files.ts';
import { describeBackup } from './describe.ts';
import { type JobFiles, referencedFiles } from './references.ts';

/**
 * Maximum copies of the database. The service may replace files between a copy of the database and the copy
 * of its files. Each further copy takes less time, because it only adds the new files.
 */
const maxRounds = 20;

/**
 * Backs up the embedded stack to a new folder, also while a service runs: the database, the result files that
 * it refers to, and the secrets of the service. The manifest is written last, so a folder without one is
 * incomplete. Throws a ConfigError on the distributed stack, without data, or if the folder is not empty.
 */
export async function createBackup(
  config: Config,
  target: string,
  onStep: (step: BackupStep) => void = () => {},
): Promise<Backup> {
  const folder = resolve(target);
  if (config.mongoUri !== null)
    throw new ConfigError(
      'backup copies the embedded stack. Back up MongoDB and the result files with their own tools.',
    );
  requireData(config);
  requireEmpty(folder);
  openPrivateFolder(folder);
  const [source, copy] = [await openBlobs(config), openFiles({ directory: join(folder, resultsFolder) })];
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
    throw new ConfigError(`The folder ${folder} is not empty. Choose a new folder, or empty this one.`);
}

/** Copies the database and its files until no file was replaced in between. */
async function copyData(config: Config, folder: string, copying: Copying): Promise<void> {
  const { copyDataFile } = await import('../../store/sqlite/snapshot.ts');
  const database = join(folder, storeFile);
  let before = new Set<string>();
  for (let round = 0; round < maxRounds; round += 1) {
    rmSync(database, { force: true });
    copyDataFile(join(config.dataDir, storeFile), database);
    copying.onStep('database');
    const missing = new Set<string>();
    await withStore(database, async (store) => {
      for await (const { files } of referencedFiles(store)) await copyFiles(files, copying, missing);
    });
    // A file that is missing for the second time was not replaced, but lost.
    if ([...missing].every((path) => before.has(path))) return;
    before = missing;
  }
  throw new Fault('unavailable', `the service replaces its files faster than they are copied to ${folder}`);
}

/** Copies the files that the backup does not have. */
async function copyFiles(files: JobFiles['files'], copying: Copying, missing: Set<string>): Promise<void> {
  for (const path of files.keys()) {
    if ((await copying.copy.size(path)) !== null) continue;
    if (await copyBlob(copying, path)) copying.onStep('file');
    else missing.add(path);
  }
}
