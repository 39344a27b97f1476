import { randomUUID } from 'node:crypto';
import { constants } from 'node:fs';
import { access, type FileHandle, mkdir, open, readdir, rename, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { type Clock, systemClock } from '../../base/clock.ts';
import { openPrivateFolder } from '../../base/data-dir.ts';
import { Fault } from '../../base/fault.ts';
import type { Blobs } from '../blobs.ts';
import { toBlocks } from '../blocks.ts';
import { missing, parseJobId, parsePath } from '../path.ts';

/** Where the files are kept. */
export interface FilesOptions {
  /** Made where it is missing. Holds a folder per job. */
  directory: string;
  /** Tells what was abandoned long ago. */
  clock?: Clock;
}

/** A file half written for this long belongs to a process that is gone. */
const abandonedMs = 24 * 3_600_000;

/**
 * Opens result files in a folder; several processes may share it. A file is written beside, forced
 * to the disk and then renamed, so it is there whole or not at all, also after a power cut. Throws
 * when the folder cannot be made.
 */
export function openFiles({ directory, clock = systemClock }: FilesOptions): Blobs {
  // No job's folder: parsePath lets no part begin with a dot.
  const writing = join(directory, '.writing');
  openPrivateFolder(directory);
  openPrivateFolder(writing);
  // What is left over costs room only; a folder that cannot be listed shows in `ping`.
  const tidied = removeAbandoned(writing, clock.now() - abandonedMs).catch(() => {});

  const place = (path: string): string => {
    const { jobId, fileName } = parsePath(path);
    return join(directory, jobId, fileName);
  };

  return {
    engine: 'files',

    async write(path, contentType, chunks, items) {
      const target = place(path);
      const folder = join(target, '..');
      const beside = join(writing, randomUUID());
      const { blocks, tally } = toBlocks(chunks);
      try {
        const handle = await kept(path, open(beside, 'wx'));
        try {
          await writeBlocks(path, handle, blocks);
          await kept(path, handle.sync());
        } finally {
          await handle.close();
        }
        await kept(path, moveInto(folder, beside, target));
        await kept(path, syncFolder(folder));
      } catch (error) {
        await rm(beside, { force: true }).catch(() => {});
        throw error;
      }
      return { path, contentType, items: items(), bytes: tally.bytes, sha256: tally.digest() };
    },

    async read(path, range) {
      const handle = await told(path, open(place(path), 'r'));
      try {
        if (!(await handle.stat()).isFile()) throw missing(path);
      } catch (error) {
        await handle.close();
        throw error;
      }
      return handle.createReadStream({ highWaterMark: 262_144, ...range });
    },

    async size(path) {
      try {
        const found = await told(path, stat(place(path)));
        return found.isFile() ? found.size : null;
      } catch (error) {
        if (error instanceof Fault && error.code === 'not_found') return null;
        throw error;
      }
    },

    presign: async () => null,

    async listJob(jobId) {
      const folder = join(directory, parseJobId(jobId));
      try {
        const entries = await told(jobId, readdir(folder, { withFileTypes: true }));
        return entries.filter((entry) => entry.isFile()).map(({ name }) => `${jobId}/${name}`);
      } catch (error) {
        if (error instanceof Fault && error.code === 'not_found') return [];
        throw error;
      }
    },

    async remove(paths) {
      for (const path of paths) await told(path, rm(place(path), { force: true }));
    },

    async removeJob(jobId) {
      await told(jobId, rm(join(directory, parseJobId(jobId)), { recursive: true, force: true }));
    },

    async ping() {
      try {
        await access(writing, constants.R_OK | constants.W_OK);
      } catch (error) {
        throw unavailable(directory, error as Error);
      }
    },

    async close() {
      await tidied;
    },
  };
}

/** Writes one block while the next is being gathered. */
async function writeBlocks(path: string, handle: FileHandle, blocks: AsyncIterable<Buffer>): Promise<void> {
  let written: Promise<void> = Promise.resolve();
  try {
    for await (const block of blocks) {
      await written;
      written = kept(path, writeAll(handle, block));
      // Awaited with the next block; until then a failure has no one else to go to.
      written.catch(() => {});
    }
  } finally {
    // The handle is closed next, also when the chunks failed.
    await written.catch(() => {});
  }
  await written;
}

async function writeAll(handle: FileHandle, block: Buffer): Promise<void> {
  for (let offset = 0; offset < block.length; ) {
    offset += (await handle.write(block, offset)).bytesWritten;
  }
}

/** Renames a file into a folder, which only a job's first file has to make. */
async function moveInto(folder: string, from: string, to: string): Promise<void> {
  try {
    await rename(from, to);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
    await mkdir(folder, { recursive: true });
    await syncFolder(join(folder, '..'));
    await rename(from, to);
  }
}

/** Makes a rename last: the entry is the folder's, not the file's. */
async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

async function removeAbandoned(folder: string, before: number): Promise<void> {
  for (const name of await readdir(folder)) {
    const file = join(folder, name);
    if ((await stat(file)).mtimeMs < before) await rm(file, { force: true });
  }
}

/** The result of an operation that writes; any error means that the folder can't be written to. */
async function kept<T>(path: string, operation: Promise<T>): Promise<T> {
  try {
    return await operation;
  } catch (error) {
    throw unavailable(path, error as Error);
  }
}

/** The result of an operation on a file that may not be there, its error as one of our faults. */
async function told<T>(path: string, operation: Promise<T>): Promise<T> {
  try {
    return await operation;
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT' || code === 'ENOTDIR' || code === 'EISDIR') throw missing(path);
    throw unavailable(path, error as Error);
  }
}

function unavailable(path: string, error: Error): Fault {
  return new Fault('unavailable', `The file store failed on ${path}: ${error.message}`, {
    component: 'file store',
    cause: error,
  });
}
