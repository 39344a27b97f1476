import { checkFile } from '../base/recorded-file.ts';
import type { Blobs } from '../blobs/blobs.ts';
import { Fault } from '../contract/fault.ts';
import type { ReferencedFile } from '../jobs/steps/merged-file.ts';
import type { Store } from '../store/store.ts';
import { referencedFiles } from './copy-files.ts';

/** Result of comparing the stored files with their records. */
export interface StoredFilesCheck {
  /** Files whose sizes were compared. */
  files: number;
  /** Files whose contents were compared, too. */
  read: number;
  /** Paths of files that are missing or differ, at most `maxListed`. */
  damaged: string[];
  damagedCount: number;
}

/** Maximum bytes read, which bounds the check of a large installation. */
const maxReadBytes = 1024 ** 3;
const maxListed = 5;

/**
 * Compares the files that jobs refer to with their records: the sizes of all, and the contents of
 * as many as fit into 1 GiB. Throws `unavailable`.
 */
export async function checkStoredFiles(store: Store, blobs: Blobs): Promise<StoredFilesCheck> {
  const check: StoredFilesCheck = {
    files: 0,
    read: 0,
    damaged: [],
    damagedCount: 0,
  };
  let leftBytes = maxReadBytes;
  for await (const { files } of referencedFiles(store)) {
    for (const file of files.values()) {
      const isRead = file.sha256 !== undefined && file.bytes <= leftBytes;
      check.files += 1;
      if (isRead) {
        leftBytes -= file.bytes;
        check.read += 1;
      }
      if (await isAsRecorded(blobs, file, isRead)) continue;
      check.damagedCount += 1;
      if (check.damaged.length < maxListed) check.damaged.push(file.path);
    }
  }
  return check;
}

async function isAsRecorded(
  blobs: Blobs,
  { path, bytes, sha256 }: ReferencedFile,
  isRead: boolean,
): Promise<boolean> {
  if ((await blobs.size(path)) !== bytes) return false;
  if (!isRead || sha256 === undefined) return true;
  try {
    await checkFile(path, { bytes, sha256 }, await blobs.read(path));
    return true;
  } catch (error) {
    const { code } = Fault.from(error);
    if (code === 'storage_damaged' || code === 'not_found') return false;
    throw error;
  }
}
