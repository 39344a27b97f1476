import { rm } from 'node:fs/promises';
import { resolve } from 'node:path';
import { downloadBackup } from './bucket.ts';
import { requireEmpty } from './create.ts';
import type { ManifestEnd } from './manifest.ts';
import { restoreBackup } from './restore.ts';

/**
 * Restores a backup from a folder, or from a bucket: the bucket's URL followed by `/` and the name of the
 * backup. Errors as in restoreBackup(), and a ConfigError for another URL.
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
  const { openS3 } = await import('../../blobs/s3/open.ts');
  const bucket = openS3({ url: url?.href ?? source, name: 'backup' });
  try {
    await downloadBackup(bucket, name, downloaded);
    return await restoreBackup(downloaded, folder);
  } finally {
    await rm(downloaded, { recursive: true, force: true });
    await bucket.close();
  }
}
