import { createReadStream, createWriteStream, renameSync } from 'node:fs';
import { mkdir, rm } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { openPrivateFolder } from '../base/data-dir.ts';
import { syncFolder } from '../base/sync-folder.ts';
import { Fault } from '../contract/fault.ts';
import { storeFile } from '../stack/stack.ts';
import { withStore } from './copy-files.ts';
import { requireEmpty } from './create.ts';
import {
  describeFile,
  localPathOf,
  type ManifestEnd,
  type ManifestFile,
  readFiles,
  readHeader,
} from './manifest.ts';
import { downloadBackup } from './targets.ts';

/**
 * Copies a backup to a new data folder and verifies the digest of every file. The database is put
 * in place last, so an interrupted copy contains no data. Throws a ConfigError if the backup is
 * incomplete or the folder is not empty, and fault `malformed` if a file is missing or damaged.
 */
export async function restoreBackup(
  source: string,
  target: string,
  onFile: (path: string) => void = () => {},
): Promise<ManifestEnd> {
  const [backup, folder] = [resolve(source), resolve(target)];
  await readHeader(backup);
  requireEmpty(folder);
  openPrivateFolder(folder);
  const draft = `${storeFile}.incomplete`;
  const end: ManifestEnd = { files: 0, bytes: 0 };
  for await (const file of readFiles(backup)) {
    await restoreFile(
      backup,
      file,
      folder,
      file.path === storeFile ? draft : localPathOf(file.path),
    );
    onFile(file.path);
    end.files += 1;
    end.bytes += file.bytes;
  }
  // Refuses a newer schema, and migrates an older one, before the service sees the data.
  await withStore(join(folder, draft), async (store) => store.schemaVersion());
  renameSync(join(folder, draft), join(folder, storeFile));
  syncFolder(folder);
  return end;
}

/** Copies a file, flushes it, and verifies the copy. */
async function restoreFile(
  backup: string,
  { path, bytes, sha256 }: ManifestFile,
  folder: string,
  copyPath: string,
): Promise<void> {
  const target = join(folder, copyPath);
  await mkdir(dirname(target), { recursive: true, mode: 0o700 });
  try {
    const copy = createWriteStream(target, { flags: 'wx', mode: 0o600, flush: true });
    await pipeline(createReadStream(join(backup, path)), copy);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
    throw new Fault('malformed', `${join(backup, path)} is missing`);
  }
  const restored = await describeFile(folder, copyPath);
  if (restored.bytes !== bytes || restored.sha256 !== sha256)
    throw new Fault(
      'malformed',
      `${join(backup, path)} is damaged: it has ${restored.bytes} bytes and ` +
        `the SHA-256 ${restored.sha256}, the manifest says ${bytes} and ${sha256}`,
    );
}

/**
 * Restores a backup from a folder, or from a bucket: the bucket's URL followed by `/` and the name
 * of the backup. Errors as in restoreBackup(), and a ConfigError for another URL.
 */
export async function restoreFrom(source: string, target: string): Promise<ManifestEnd> {
  if (!/^https?:/.test(source)) return restoreBackup(source, target);
  const folder = resolve(target);
  const downloaded = `${folder}.download`;
  for (const used of [folder, downloaded]) requireEmpty(used);
  const url = URL.parse(source);
  const path = url?.pathname ?? '';
  const name = path.slice(path.lastIndexOf('/') + 1);
  if (url !== null) url.pathname = path.slice(0, -name.length - 1);
  const { openS3 } = await import('../blobs/s3/open.ts');
  const bucket = openS3({ url: url?.href ?? source, name: 'backup' });
  try {
    await downloadBackup(bucket, name, downloaded);
    return await restoreBackup(downloaded, folder);
  } finally {
    await rm(downloaded, { recursive: true, force: true });
    await bucket.close();
  }
}
