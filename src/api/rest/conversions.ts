import { createReadStream, createWriteStream } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { onDemand } from '../../base/on-demand.ts';
import { createProcessFolder, removeProcessFolder } from '../../base/process-folder.ts';
import type { ConvertedFile } from '../../contract/files.ts';

/** A conversion that was written to a file. */
export interface StoredConversion {
  contentType: string;
  fileName: string;
  bytes: number;
  read(range?: { start: number; end: number }): Readable;
}

/** Conversions of result files, kept for a while so that they have a size and ranges. */
export interface Conversions {
  /**
   * Returns the conversion of a key, which identifies its bytes. The first call creates it; calls
   * at the same time share it. Returns null if it is too large to be kept. Rejects with the errors
   * of `convert`.
   */
  open(
    key: string,
    convert: (signal: AbortSignal) => Promise<ConvertedFile>,
  ): Promise<StoredConversion | null>;
  /** Removes all files. */
  close(): Promise<void>;
}

export interface ConversionLimits {
  /** Maximum bytes of one conversion. */
  maxBytes: number;
  /** Maximum bytes of all conversions. The least recently used ones are removed. */
  maxTotalBytes: number;
  /** Time after its last use when a conversion is removed, in milliseconds. */
  keepMs: number;
}

const defaultLimits: ConversionLimits = {
  maxBytes: 256 * 1024 ** 2,
  maxTotalBytes: 1024 ** 3,
  keepMs: 600_000,
};

/** Keys of conversions that were too large, which are not tried again. */
const maxLargeKeys = 10_000;

interface Entry {
  path: string;
  conversion: Promise<StoredConversion | null>;
  bytes: number;
  expiry: NodeJS.Timeout | undefined;
}

class TooLargeError extends Error {}

/**
 * Creates a cache in a temporary folder of this process, which is created with the first
 * conversion.
 */
export function createConversions(limits: Partial<ConversionLimits> = {}): Conversions {
  const { maxBytes, maxTotalBytes, keepMs } = { ...defaultLimits, ...limits };
  const folder = onDemand(async () => {
    const path = await createProcessFolder('conversions');
    return { path, close: () => removeProcessFolder(path) };
  });
  /** In the order of their last use. */
  const entries = new Map<string, Entry>();
  const largeKeys = new Set<string>();
  let count = 0;
  let totalBytes = 0;

  const remove = (key: string) => {
    const entry = entries.get(key);
    if (entry === undefined) return;
    entries.delete(key);
    totalBytes -= entry.bytes;
    clearTimeout(entry.expiry);
    // Readers that have opened the file can read it to its end.
    rm(entry.path, { force: true }).catch(() => {});
  };

  const use = (key: string, entry: Entry) => {
    entries.delete(key);
    entries.set(key, entry);
    clearTimeout(entry.expiry);
    entry.expiry = setTimeout(() => remove(key), keepMs);
    entry.expiry.unref();
  };

  const write = async (entry: Entry, converted: ConvertedFile): Promise<StoredConversion> => {
    const { contentType, fileName, bytes } = converted;
    const { path } = entry;
    const limited = async function* () {
      for await (const chunk of bytes) {
        entry.bytes += chunk.length;
        totalBytes += chunk.length;
        if (entry.bytes > maxBytes) throw new TooLargeError();
        yield chunk;
      }
    };
    await pipeline(limited, createWriteStream(path, { flags: 'wx', mode: 0o600 }));
    return {
      contentType,
      fileName,
      bytes: entry.bytes,
      read: (range) => createReadStream(path, { highWaterMark: 262_144, ...range }),
    };
  };

  /** Removes the oldest complete conversions above the limit, except the one of `newKey`. */
  const removeOldest = (newKey: string) => {
    for (const [key, { expiry }] of entries) {
      if (totalBytes <= maxTotalBytes) break;
      const isComplete = expiry !== undefined;
      if (isComplete && key !== newKey) remove(key);
    }
  };

  const create = async (
    key: string,
    entry: Entry,
    convert: Parameters<Conversions['open']>[1],
  ): Promise<StoredConversion | null> => {
    const ended = new AbortController();
    try {
      entry.path = join((await folder()).path, String(count++));
      const stored = await write(entry, await convert(ended.signal));
      use(key, entry);
      removeOldest(key);
      return stored;
    } catch (error) {
      remove(key);
      if ((error as NodeJS.ErrnoException).code === 'ENOSPC') return null;
      if (!(error instanceof TooLargeError)) throw error;
      if (largeKeys.size >= maxLargeKeys) largeKeys.clear();
      largeKeys.add(key);
      return null;
    } finally {
      ended.abort(new Error('the conversion has ended'));
    }
  };

  return {
    async open(key, convert) {
      if (largeKeys.has(key)) return null;
      const found = entries.get(key);
      if (found !== undefined) {
        if (found.expiry !== undefined) use(key, found);
        return found.conversion;
      }
      const entry: Entry = {
        path: '',
        conversion: Promise.resolve(null),
        bytes: 0,
        expiry: undefined,
      };
      entries.set(key, entry);
      entry.conversion = create(key, entry, convert);
      return entry.conversion;
    },

    async close() {
      for (const key of [...entries.keys()]) remove(key);
      await folder.close();
    },
  };
}
