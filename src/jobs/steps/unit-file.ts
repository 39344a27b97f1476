import { Fault } from '../../contract/fault.ts';
import type { ListPage, ListSummary } from '../../markets/market.ts';
import type { Batch } from '../../store/batches.ts';
import type { Job, StoredFile } from '../../store/documents.ts';
import type { JobContext } from '../context.ts';

/** The unit whose file is written. */
export interface UnitFileTarget {
  job: Job;
  batch: Batch;
  /** Index of the unit in the batch. */
  index: number;
}

/** Thrown while a file is copied whose source cannot be read. */
class LostSourceError extends Error {}

/**
 * Writes the result file of one listing, read at `at`, while its pages arrive, so that memory is bounded by
 * one page. A listing that fails leaves no file.
 */
export async function writeUnitFile(
  context: JobContext,
  target: UnitFileTarget,
  at: number,
  pages: AsyncGenerator<ListPage, ListSummary, void>,
): Promise<StoredFile> {
  const { pack, unit, place, write } = fileOf(context, target, at);
  let entries = 0;
  async function* chunks() {
    yield pack.head(unit, place);
    entries = yield* pack.body(pages, unit, place);
  }
  return write(chunks(), () => entries);
}

/**
 * Writes the result file of a listing as a copy of another job's file, read at `at`, with a first line of its
 * own. Returns null, and leaves no file, if the source was deleted or changed. Throws `unavailable`.
 */
export async function copyUnitFile(
  context: JobContext,
  target: UnitFileTarget,
  at: number,
  source: StoredFile,
): Promise<StoredFile | null> {
  const { pack, unit, place, write } = fileOf(context, target, at);
  async function* chunks() {
    yield pack.head(unit, place);
    yield* bodyOf(context, source);
  }
  try {
    return await write(chunks(), () => source.items);
  } catch (error) {
    if (error instanceof LostSourceError) return null;
    throw error;
  }
}

/** Returns the file to write: its format, its place, and the function that writes it. */
function fileOf({ blobs, jobTypes }: JobContext, { job, batch, index }: UnitFileTarget, at: number) {
  const { kind, result } = jobTypes.of(job);
  const pack = kind.files.unit;
  if (!pack) throw new Error(`${job.kind} has no unit file`);
  return {
    pack,
    unit: batch.units[index]!,
    place: { job, batch, collectedAt: Math.floor(at / 1000), result },
    write: (chunks: AsyncIterable<string | Uint8Array>, items: () => number) =>
      blobs.write(`${job.id}/${pack.name(job, batch)}`, pack.contentType, chunks, items),
  };
}

const lineBreak = 0x0a;

/** Yields the bytes of a file from its first line break on. */
async function* bodyOf(
  { blobs }: Pick<JobContext, 'blobs'>,
  { path, bytes }: StoredFile,
): AsyncGenerator<Uint8Array> {
  let read = 0;
  let isBody = false;
  try {
    for await (const chunk of (await blobs.read(path)) as AsyncIterable<Uint8Array>) {
      read += chunk.length;
      const start = isBody ? 0 : chunk.indexOf(lineBreak);
      if (start < 0) continue;
      isBody = true;
      yield start === 0 ? chunk : chunk.subarray(start);
    }
  } catch (error) {
    if (Fault.from(error).code === 'unavailable') throw error;
    throw new LostSourceError(path, { cause: error });
  }
  if (read !== bytes) throw new LostSourceError(`${path} has ${read} bytes instead of ${bytes}`);
}
