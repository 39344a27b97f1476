import { sha256 } from '../../base/id.ts';
import type { FetchPage } from '../../fetch/page.ts';
import type { Batch, KeptPage, KeptPages } from '../../store/batches.ts';
import type { Job } from '../../store/documents.ts';
import type { JobContext } from '../context.ts';
import { keepPagesMs, pageFilePath, requestDigest } from '../kept-pages.ts';
import { warcInfo, writePage } from '../warc.ts';
import { streamOf } from './record-segment.ts';

/** Maximum compressed bytes of the pages of one unit, which are in memory until it ends. */
const maxUnitBytes = 16 * 1024 ** 2;
/** Maximum compressed bytes of the pages of one batch. */
const maxBatchBytes = 64 * 1024 ** 2;

/** A page to keep, with its WARC records. */
interface CapturedPage extends Omit<KeptPage, 'file' | 'offset' | 'length'> {
  records: Buffer;
}

/** Pages of one attempt at a unit. */
export interface UnitPages {
  pages: CapturedPage[];
  /** Pages that exceed the limit of a unit, or cannot be kept. */
  missed: number;
}

/** Wraps the fetch of one attempt at a unit. The result collects the responses. */
export function capturePages(fetch: FetchPage): { fetch: FetchPage; captured: UnitPages } {
  const captured: UnitPages = { pages: [], missed: 0 };
  let bytes = 0;
  return {
    captured,
    async fetch(request) {
      const response = await fetch(request);
      // Compressed before the reader gets the page, whose memory is released when it requests the next one.
      // The unit does not depend on it.
      const records = await writePage(request, response).catch(() => null);
      bytes += records?.length ?? 0;
      if (records === null || bytes > maxUnitBytes) captured.missed += 1;
      else {
        const { url, at, status, body } = response;
        const page = { request: requestDigest(request), url, at, status, sha256: sha256(body), records };
        captured.pages.push(page);
      }
      return response;
    },
  };
}

/** Writer of the kept pages of one attempt at a batch. */
export interface PageKeeper {
  /** Adds the pages of a unit to the next write. */
  add(index: number, captured: UnitPages): void;
  /** Compressed bytes that are not written yet. */
  readonly pendingBytes: number;
  /**
   * Writes the pages of the units to a file of their own. Returns the batch's kept pages with them, to be
   * stored with the units' outcomes, or null if there is nothing to store.
   */
  write(indexes: readonly number[]): Promise<KeptPages | null>;
  /** Releases the memory of the units, whose pages were stored as `pages`. */
  commit(indexes: readonly number[], pages: KeptPages | null): void;
  /** Returns the file that write() wrote for `pages`, which were not stored. */
  filesOf(pages: KeptPages | null): string[];
  /** Releases all memory. */
  release(): void;
}

/** Returns true if the pages of a job are kept. */
export const keepsPages = ({ options, rereadOf }: Job) => rereadOf === null && keepPagesMs(options) !== null;

/**
 * Creates the writer. Pages that exceed the limit of a batch, or the quota of the user as of the first write,
 * are counted as missed.
 */
export function createPageKeeper(context: JobContext, { userId }: Job, batch: Batch): PageKeeper {
  const { store, blobs, clock, settings } = context;
  const memory = context.pages.records;
  const pending = new Map<number, UnitPages>();
  let current: KeptPages = batch.pages ?? { files: [], bytes: 0, units: {}, kept: 0, missed: 0 };
  let writes = 0;
  let quota: number | null = null;
  let pendingBytes = 0;
  const drop = (index: number) => {
    const bytes = bytesOf(pending.get(index));
    pending.delete(index);
    pendingBytes -= bytes;
    memory.remove(bytes);
  };

  return {
    add(index, captured) {
      pending.set(index, captured);
      pendingBytes += bytesOf(captured);
      memory.add(bytesOf(captured));
    },

    get pendingBytes() {
      return pendingBytes;
    },

    async write(indexes) {
      const units = indexes.filter((index) => pending.has(index));
      if (units.length === 0) return null;
      quota ??= settings.keptPageBytes - (await store.jobs.sumPageBytes(userId)) + current.bytes;
      const left = Math.min(quota, maxBatchBytes) - current.bytes;
      const info = await warcInfo(settings.version, clock.now());
      const file = composeFile(info, current, left);
      const places = units.map((index) => [index, file.place(pending.get(index)!)] as const);
      const { kept, missed, chunks, bytes } = file.result();
      const path = pageFilePath(batch, ++writes);
      if (kept > 0) await blobs.write(path, 'application/warc', chunks, () => kept);
      return {
        files: kept > 0 ? [...current.files, { path, bytes }] : current.files,
        bytes: current.bytes + (kept > 0 ? bytes : 0),
        units: { ...current.units, ...Object.fromEntries(places) },
        kept: current.kept + kept,
        missed: current.missed + missed,
      };
    },

    commit(indexes, pages) {
      if (pages === null) return;
      current = pages;
      for (const index of indexes) drop(index);
    },

    filesOf: (pages) => (pages?.files ?? []).slice(current.files.length).map(({ path }) => path),

    release: () => {
      for (const index of [...pending.keys()]) drop(index);
    },
  };
}

const bytesOf = (unit: UnitPages | undefined) =>
  (unit?.pages ?? []).reduce((sum, { records }) => sum + records.length, 0);

/** Pages with the same identity are kept once. */
const identityOf = ({ request, sha256: digest }: Pick<KeptPage, 'request' | 'sha256'>) =>
  `${request} ${digest}`;

/** Composes the next file of a batch with the kept pages `current`, up to `left` bytes. */
function composeFile(info: Buffer, current: KeptPages, left: number) {
  const known = new Map(
    Object.values(current.units).flatMap((pages) => pages.map((page) => [identityOf(page), page] as const)),
  );
  const parts = [info];
  let bytes = info.length;
  let kept = 0;
  let missed = 0;
  return {
    /** Adds the pages of a unit. Returns those that are kept. */
    place(unit: UnitPages): KeptPage[] {
      missed += unit.missed;
      return unit.pages.flatMap(({ records, ...page }) => {
        const same = known.get(identityOf(page));
        if (same !== undefined) return same;
        if (bytes + records.length > left) {
          missed += 1;
          return [];
        }
        const place = { ...page, file: current.files.length, offset: bytes, length: records.length };
        known.set(identityOf(page), place);
        parts.push(records);
        bytes += records.length;
        kept += 1;
        return place;
      });
    },
    result: () => ({ kept, missed, bytes, chunks: streamOf(parts) }),
  };
}
