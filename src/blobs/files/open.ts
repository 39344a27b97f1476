import { randomUUID } from 'node:crypto';
import fs, {
  closeSync,
  constants,
  createReadStream,
  fstatSync,
  linkSync,
  mkdirSync,
  openSync,
  readSync,
  renameSync,
  unlinkSync,
  writeSync,
} from 'node:fs';
import { access, readdir, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { promisify } from 'node:util';
import { type Clock, systemClock } from '../../base/clock.ts';
import { openPrivateFolder } from '../../base/data-dir.ts';
import { Fault } from '../../contract/fault.ts';
import {
  type Blobs,
  convertErrors,
  missingFile,
  parseJobId,
  parsePath,
  toBlocks,
} from '../blobs.ts';

export interface FilesOptions {
  /** Folder of the storage, with one folder per job. Created if missing. */
  directory: string;
  /** Determines the age of abandoned files. */
  clock?: Clock;
}

/*
 * Opening, closing and renaming a file, and reading and writing a few KB, only touch the file
 * system's cache. They are synchronous: a trip to a thread costs more, and takes a turn of the
 * event loop, which is long in a busy worker.
 */
const writeBlock = promisify(fs.write);
const flush = promisify(fs.fsync);

/**
 * Maximum bytes that are written synchronously: a larger write may wait until the disk has taken
 * others.
 */
const maxSyncWriteBytes = 64 * 1024;
/** Maximum bytes that are read synchronously: the segment of a batch with records of 2 KB. */
const maxSyncReadBytes = 128 * 1024;

/** Age at which a temporary file counts as abandoned by a dead process. */
const abandonedMs = 24 * 3_600_000;

/**
 * Opens a result storage in a folder, which several processes may share. A file is written under a
 * temporary name, so that it is complete or absent, and on disk when write() returns. After a power
 * loss before that, a file that was to be replaced is complete, and a new one may lack its content.
 * Throws if the folder cannot be created.
 */
export function openFiles({ directory, clock = systemClock }: FilesOptions): Blobs {
  // Cannot collide with a job: parsePath() rejects parts that start with a dot.
  const temporary = join(directory, '.writing');
  openPrivateFolder(directory);
  openPrivateFolder(temporary);
  // Abandoned files only cost space; an unreadable folder is reported by ping().
  const cleanup = removeAbandoned(temporary, clock.now() - abandonedMs).catch(() => {});

  const fileOf = (path: string): string => {
    const { jobId, fileName } = parsePath(path);
    return join(directory, jobId, fileName);
  };

  const requireFolder = async () => {
    try {
      await access(temporary, constants.R_OK | constants.W_OK);
    } catch (error) {
      throw unavailable(directory, error as Error);
    }
  };

  /**
   * Returns the result of an operation on an existing file; converts errors to `not_found` or
   * `unavailable`.
   */
  const orFault = async <T>(path: string, operation: () => Promise<T>): Promise<T> => {
    try {
      return await operation();
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      if (code !== 'ENOENT' && code !== 'ENOTDIR' && code !== 'EISDIR')
        throw unavailable(path, error as Error);
    }
    // Without their folder, for example on an unmounted disk, all files are missing.
    await requireFolder();
    throw missingFile(path);
  };

  const listJob = async (jobId: string): Promise<string[]> => {
    const folder = join(directory, parseJobId(jobId));
    try {
      const entries = await orFault(jobId, () => readdir(folder, { withFileTypes: true }));
      return entries.filter((entry) => entry.isFile()).map(({ name }) => `${jobId}/${name}`);
    } catch (error) {
      if (error instanceof Fault && error.code === 'not_found') return [];
      throw error;
    }
  };

  return {
    engine: 'files',

    async write(path, contentType, chunks, items) {
      const target = fileOf(path);
      const draft = join(temporary, randomUUID());
      const { blocks, totals } = toBlocks(chunks);
      try {
        const file = await orUnavailable(path, async () => openSync(draft, 'wx'));
        try {
          await writeBlocks(path, file, blocks);
          await orUnavailable(path, () => place(file, draft, target));
        } finally {
          closeSync(file);
        }
      } catch (error) {
        await rm(draft, { force: true }).catch(() => {});
        throw error;
      }
      return {
        path,
        contentType,
        items: items(),
        bytes: totals.bytes,
        sha256: totals.digest(),
      };
    },

    async read(path, range) {
      const file = fileOf(path);
      const opened = await orFault(path, async () => openSync(file, 'r'));
      const found = fstatSync(opened);
      if (!found.isFile()) {
        closeSync(opened);
        throw missingFile(path);
      }
      const { start, end } = { start: 0, end: found.size - 1, ...range };
      const length = Math.min(end + 1, found.size) - start;
      if (length > 0 && length <= maxSyncReadBytes) {
        const bytes = await orFault(path, async () => readAndClose(opened, start, length));
        return Readable.from([bytes], { objectMode: false });
      }
      const content = createReadStream(file, { fd: opened, highWaterMark: 262_144, ...range });
      return convertErrors(content, (error) => unavailable(path, error));
    },

    async size(path) {
      try {
        const file = fileOf(path);
        const found = await orFault(path, () => stat(file));
        return found.isFile() ? found.size : null;
      } catch (error) {
        if (error instanceof Fault && error.code === 'not_found') return null;
        throw error;
      }
    },

    presign: async () => null,

    listJob,

    async *list() {
      await requireFolder();
      for (const entry of await orFault(directory, () =>
        readdir(directory, { withFileTypes: true }),
      ))
        if (entry.isDirectory() && !entry.name.startsWith('.')) yield* await listJob(entry.name);
    },

    async remove(paths) {
      await requireFolder();
      for (const path of paths) {
        const file = fileOf(path);
        await orFault(path, () => rm(file, { force: true }));
      }
    },

    async removeJob(jobId) {
      const folder = join(directory, parseJobId(jobId));
      await requireFolder();
      await orFault(jobId, () => rm(folder, { recursive: true, force: true }));
    },

    ping: requireFolder,

    async close() {
      await cleanup;
    },
  };
}

/** Writes each block while the next one is assembled. */
async function writeBlocks(
  path: string,
  file: number,
  blocks: AsyncIterable<Buffer>,
): Promise<void> {
  let written: Promise<void> = Promise.resolve();
  try {
    for await (const block of blocks) {
      await written;
      written = orUnavailable(path, () => writeAll(file, block));
      // The next iteration awaits the promise; until then a rejection must not count as unhandled.
      written.catch(() => {});
    }
  } finally {
    // The caller closes the file next, even if the chunks failed.
    await written.catch(() => {});
  }
  await written;
}

/** Reads up to `length` bytes of a file from `start` on, and closes it. */
function readAndClose(file: number, start: number, length: number): Buffer {
  try {
    const bytes = Buffer.allocUnsafe(length);
    return bytes.subarray(0, readSync(file, bytes, 0, length, start));
  } finally {
    closeSync(file);
  }
}

async function writeAll(file: number, block: Buffer): Promise<void> {
  for (let offset = 0; offset < block.length; ) {
    const left = block.length - offset;
    offset +=
      left <= maxSyncWriteBytes
        ? writeSync(file, block, offset)
        : (await writeBlock(file, block, offset, left)).bytesWritten;
  }
}

/**
 * Gives a written file its name, in a folder that is created for a job's first file, and makes both
 * durable. Nothing refers to a new file yet, so it is flushed together with its folder: one wait
 * for the disk instead of two. A file that replaces another is flushed first.
 */
async function place(file: number, draft: string, target: string): Promise<void> {
  const folder = join(target, '..');
  const changed = [folder];
  let isNew = linkNew(draft, target);
  if (!isNew && mkdirSync(folder, { recursive: true }) !== undefined) {
    isNew = linkNew(draft, target);
    changed.push(join(folder, '..'));
  }
  if (!isNew) {
    await flush(file);
    renameSync(draft, target);
  }
  await Promise.all([...(isNew ? [flush(file)] : []), ...changed.map(syncFolder)]);
}

/**
 * Renames a file. Returns false if the name exists, its folder does not, or the file system has no
 * links.
 */
function linkNew(from: string, to: string): boolean {
  try {
    linkSync(from, to);
  } catch {
    return false;
  }
  unlinkSync(from);
  return true;
}

/** Flushes a folder, which makes changes of its entries durable. */
async function syncFolder(folder: string): Promise<void> {
  const opened = openSync(folder, 'r');
  try {
    await flush(opened);
  } finally {
    closeSync(opened);
  }
}

async function removeAbandoned(folder: string, before: number): Promise<void> {
  for (const name of await readdir(folder)) {
    const file = join(folder, name);
    if ((await stat(file)).mtimeMs < before) await rm(file, { force: true });
  }
}

/** Returns the result of a write; converts any error to `unavailable`. */
async function orUnavailable<T>(path: string, operation: () => Promise<T>): Promise<T> {
  try {
    return await operation();
  } catch (error) {
    throw unavailable(path, error as Error);
  }
}

function unavailable(path: string, error: Error): Fault {
  return new Fault('unavailable', `The file store failed on ${path}: ${error.message}`, {
    component: 'file store',
    cause: error,
  });
}
