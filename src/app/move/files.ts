import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type { Config } from '../../base/config.ts';
import type { Blobs } from '../../blobs/blobs.ts';
import { computeDigest, type Digest } from '../../blobs/chunk-blocks.ts';
import { openFiles } from '../../blobs/files/open.ts';
import { Fault } from '../../contract/fault.ts';
import type { ReferencedFile } from '../../jobs/steps/finalize-job.ts';
import type { Store } from '../../store/store.ts';
import { referencedFiles } from '../backup/references.ts';
import { resultsFolder } from '../stack.ts';

/** Result of moveFiles(). */
export interface MovedFiles {
  /** Number of files in the target. */
  files: number;
  bytes: number;
  /** Files that the source refers to but does not have, or not with that digest. */
  lost: string[];
}

/** Files copied at the same time. */
const concurrency = 8;

/**
 * Copies the referenced files of a data folder to the result storage of the configuration, and reads every
 * copy back. Files that an interrupted move has copied are not copied again. If both are the same storage,
 * the files are only verified. Throws `malformed` if a copy differs.
 */
export async function moveFiles(
  store: Store,
  dataDir: string,
  config: Config,
  target: Blobs,
  onFile: () => void,
): Promise<MovedFiles> {
  const folder = join(dataDir, resultsFolder);
  const isInPlace = config.s3Url === null && resolve(config.dataDir) === dataDir;
  const source = isInPlace || !existsSync(folder) ? null : openFiles({ directory: folder });
  const moved: MovedFiles = { files: 0, bytes: 0, lost: [] };
  try {
    for await (const { job, files } of referencedFiles(store)) {
      // Files that the source replaced between an interrupted move and this one.
      const copied = source === null ? [] : await target.listJob(job.id);
      await target.remove(copied.filter((path) => !files.has(path)));
      const moveOne = async (file: ReferencedFile) => {
        const found = source === null ? null : await digestIn(source, file.path);
        const digest = found ?? (await digestIn(target, file.path));
        if (digest === null || (file.sha256 !== undefined && file.sha256 !== digest.sha256))
          moved.lost.push(file.path);
        if (digest === null) return;
        if (source !== null && found !== null) await copyFile(source, target, file, found);
        moved.files += 1;
        moved.bytes += digest.bytes;
        onFile();
      };
      const waiting = files.values();
      const moveWaiting = async () => {
        for (const file of waiting) await moveOne(file);
      };
      await Promise.all(Array.from({ length: concurrency }, moveWaiting));
    }
    return moved;
  } finally {
    await source?.close();
  }
}

/** Copies a file unless the target has it. Throws `malformed` if the copy differs. */
async function copyFile(source: Blobs, target: Blobs, file: ReferencedFile, expected: Digest): Promise<void> {
  const { path, contentType = 'application/octet-stream' } = file;
  if ((await target.size(path)) === expected.bytes) {
    if ((await digestIn(target, path))?.sha256 === expected.sha256) return;
  }
  await target.write(path, contentType, await source.read(path), () => 0);
  const copy = await digestIn(target, path);
  if (copy?.sha256 !== expected.sha256)
    throw new Fault(
      'malformed',
      `${target.engine}: the copy of ${path} has the SHA-256 ${copy?.sha256}, the original ${expected.sha256}`,
    );
}

/** Reads a file. Returns null if it does not exist. */
async function digestIn(blobs: Blobs, path: string): Promise<Digest | null> {
  return (await blobs.size(path)) === null ? null : computeDigest(await blobs.read(path));
}
