import { sha256 } from '../../base/id.ts';
import type { FetchPage } from '../../fetch/page.ts';
import type { Batch, KeptPage, KeptPages, PagePlace } from '../../store/batches.ts';
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
   * Writes the pages of the units to a file of their own, except those that the job has kept before. Returns
   * the batch's kept pages with them, to be stored with the units' outcomes, or null if there is nothing to
   * store.
   */
  write(indexes: readonly number[]): Promise<KeptPages | null>;
  /**
   * Releases the memory of the units, whose pages were stored as `pages`, and lets other batches find the
   * pages.
   */
  commit(indexes: readonly number[], pages: KeptPages | null): Promise<void>;
  /** Returns the file of the last write(), which was not stored. */
  uncommitted(): string[];
  /** Releases all memory. */
  release(): void;
}

/** Returns true if the pages of a job are kept. */
export const keepsPages = ({ options, rereadOf }: Job) => rereadOf === null && keepPagesMs(options) !== null;

/**
 * Creates the writer. Pages that exceed the limit of a batch, or the quota of the user as of the first write,
 * are counted as missed. A page is kept once in a job: its place is stored after the batch that keeps it, so
 * that no place is that of a page without a reference. Batches that read the same page at the same moment, or
 * after a crash between the two writes, keep it once each.
 */
export function createPageKeeper(context: JobContext, { userId }: Job, batch: Batch): PageKeeper {
  const { store, blobs, clock, settings } = context;
  const memory = context.pages.records;
  const pending = new Map<number, UnitPages>();
  let current: KeptPages = batch.pages ?? { files: [], bytes: 0, units: {}, kept: 0, missed: 0 };
  let added: PagePlace[] = [];
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
      const units = indexes.flatMap((index) => {
        const captured = pending.get(index);
        return captured === undefined ? [] : [[index, captured] as const];
      });
      if (units.length === 0) return null;
      quota ??= settings.keptPageBytes - (await store.sumPageBytes(userId)) + current.bytes;
      const ids = units.flatMap(([, { pages }]) => pages.map((page) => placeId(batch, page)));
      const known = await store.findPagePlaces([...new Set(ids)]);
      const file = composeFile({
        batch,
        current,
        known,
        path: pageFilePath(batch, ++writes),
        info: await warcInfo(settings.version, clock.now()),
        left: Math.min(quota, maxBatchBytes) - current.bytes,
      });
      for (const [index, captured] of units) file.place(index, captured);
      added = file.added;
      if (added.length > 0)
        await blobs.write(added[0]!.path, 'application/warc', file.chunks(), () => added.length);
      return file.result();
    },

    async commit(indexes, pages) {
      if (pages === null) return;
      current = pages;
      for (const index of indexes) drop(index);
      const places = added;
      added = [];
      // The pages are stored: without their places, other batches keep them again.
      if (places.length > 0) await store.addPagePlaces(places).catch(() => {});
    },

    uncommitted: () => added.slice(0, 1).map(({ path }) => path),

    release: () => {
      for (const index of [...pending.keys()]) drop(index);
    },
  };
}

const bytesOf = (unit: UnitPages | undefined) =>
  (unit?.pages ?? []).reduce((sum, { records }) => sum + records.length, 0);

/** Returns the id of a page's place: the same for equal responses to the same request in a job. */
const placeId = ({ jobId }: Batch, { request, status, sha256: digest }: CapturedPage) =>
  `${jobId}/${sha256(`${request} ${status} ${digest}`).slice(0, 32)}`;

/** Parameters of composeFile(). */
interface FileParts {
  batch: Batch;
  /** Kept pages of the batch so far. */
  current: KeptPages;
  /** Places of pages that the job has kept. */
  known: readonly PagePlace[];
  path: string;
  /** The record that begins the file. */
  info: Buffer;
  /** Maximum bytes of the file. */
  left: number;
}

/** Composes the next file of a batch. */
function composeFile({ batch, current, known, path, info, left }: FileParts) {
  const places = new Map(known.map((place) => [place.id, place]));
  const files = [...current.files];
  const units = { ...current.units };
  const added: PagePlace[] = [];
  const parts = [info];
  let bytes = info.length;
  let { missed } = current;
  const fileAt = (wanted: string) => {
    const at = files.findIndex((file) => file.path === wanted);
    return at >= 0 ? at : files.push({ path: wanted, bytes: 0 }) - 1;
  };
  const placeOf = (page: CapturedPage): PagePlace | undefined => {
    const id = placeId(batch, page);
    const { length } = page.records;
    const same = places.get(id);
    if (same !== undefined || bytes + length > left) return same;
    const place = { id, path, offset: bytes, length };
    places.set(id, place);
    added.push(place);
    parts.push(page.records);
    bytes += length;
    return place;
  };
  return {
    added,
    /** Adds the pages of a unit. */
    place(index: number, captured: UnitPages): void {
      units[index] = captured.pages.flatMap((page) => {
        const place = placeOf(page);
        if (place === undefined) return [];
        const { records: _, ...kept } = page;
        const { path: wanted, offset, length } = place;
        return { ...kept, file: fileAt(wanted), offset, length };
      });
      missed += captured.missed + captured.pages.length - units[index].length;
    },
    chunks: () => streamOf(parts),
    /** Returns the kept pages of the batch with the file. */
    result(): KeptPages {
      const own = added.length > 0 ? bytes : 0;
      return {
        files: files.map((file) => (file.path === path ? { path, bytes } : file)),
        bytes: current.bytes + own,
        units,
        kept: current.kept + added.length,
        missed,
      };
    },
  };
}
