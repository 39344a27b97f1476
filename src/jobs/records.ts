import { pipeline, type Readable } from 'node:stream';
import { promisify } from 'node:util';
import { crc32, createGunzip, gzip } from 'node:zlib';
import { csvField, plainJson, readCsvField } from '../base/csv.ts';
import { linesOf } from '../base/read-lines.ts';
import { compareFile, damagedFile } from '../base/recorded-file.ts';
import { type Blobs, parsePath } from '../blobs/blobs.ts';
import { Fault } from '../contract/fault.ts';
import type { FileEntry, FilePack, UnitFilePack } from '../kinds/kind.ts';
import type { Batch, Outcome, Segment } from '../store/batches.ts';
import type { Job, StoredFile } from '../store/documents.ts';
import type { Store } from '../store/store.ts';
import type { JobContext } from './context.ts';

/** Serialized records by unit index. */
export type RecordsByUnit = ReadonlyMap<number, Uint8Array>;

type Rows = Pick<FilePack, 'gzip' | 'encoding' | 'separator' | 'row'>;

const compress = promisify(gzip);

/** Row format of kinds without a merged file: the bare records. */
const recordsOnly = {
  gzip: false,
  encoding: () => 'plain',
  contentType: 'application/octet-stream',
  separator: '',
  row: (_unit, outcome) => (outcome.status === 'SUCCESS' ? ['', ''] : null),
} as const satisfies Rows & { contentType: string };

/** Returns the record of a successful unit, or nothing if it is lost. */
export type RecordSource = (index: number) => Promise<Uint8Array | null> | Uint8Array | undefined;

/** Results of composeRows() after all rows were yielded. */
export interface ComposedRows {
  /** Before compression. */
  bytes: number;
  items: number;
  /** Offsets and lengths of the records in the rows, in bytes before compression. */
  records: Segment['records'];
}

/** Bytes of rows that are yielded together: each yield passes through several promises. */
const groupBytes = 64 * 1024;
/** Bytes of rows that are compressed as one gzip member. Members can be concatenated. */
const memberBytes = 1024 ** 2;

/**
 * Yields the rows of a batch in submission order in the format of its job's file, and counts them
 * in `composed`. Holds a few records in memory. In CSV, records keep their values, not each byte
 * (plainJson()). Throws `internal` when a successful unit has no record.
 */
export async function* composeRows(
  pack: Rows,
  job: Job,
  batch: Batch,
  source: RecordSource,
  composed: ComposedRows,
): AsyncGenerator<Uint8Array> {
  const group = createRowGroup(pack.gzip, composed);
  const unitPlace = { job, region: batch.region };
  const isCsv = pack.encoding(job) === 'csv';
  const addRecord = (index: number, record: Uint8Array | null | undefined) => {
    // The unit was charged; a file without its record would report it as failed.
    if (!record)
      throw new Fault('internal', `unit ${index} of batch ${batch.id} has lost its record`);
    const bytes = isCsv ? toCsvField(record) : record;
    composed.records[index] = [composed.bytes, bytes.byteLength, crc32(bytes)];
    group.add(bytes);
  };
  for (const [index, unit] of batch.units.entries()) {
    const outcome = batch.outcomes[index];
    if (outcome === undefined) continue;
    const row = pack.row(unit, outcome, unitPlace);
    if (row === null) continue;
    const [beforeRecord, afterRecord] = row;
    if (composed.items > 0) group.add(pack.separator);
    group.add(beforeRecord);
    if (outcome.status === 'SUCCESS') {
      const pending = source(index);
      addRecord(index, pending instanceof Promise ? await pending : pending);
    }
    group.add(afterRecord);
    composed.items += 1;
    if (group.isFull) yield await group.take();
  }
  if (!group.isEmpty) yield await group.take();
}

/** Rows that are yielded together, compressed if the file is. */
interface RowGroup {
  readonly isEmpty: boolean;
  readonly isFull: boolean;
  add(chunk: string | Uint8Array): void;
  /** Returns the rows added since the last call. */
  take(): Promise<Buffer> | Buffer;
}

/** Creates an empty group. Its bytes before compression are also counted in `composed`. */
function createRowGroup(isGzip: boolean, composed: ComposedRows): RowGroup {
  const maxBytes = isGzip ? memberBytes : groupBytes;
  let chunks: Uint8Array[] = [];
  let size = 0;
  return {
    get isEmpty() {
      return size === 0;
    },
    get isFull() {
      return size >= maxBytes;
    },
    add(chunk) {
      if (chunk.length === 0) return;
      const bytes = typeof chunk === 'string' ? Buffer.from(chunk) : chunk;
      chunks.push(bytes);
      size += bytes.byteLength;
      composed.bytes += bytes.byteLength;
    },
    take() {
      const rows = Buffer.concat(chunks, size);
      chunks = [];
      size = 0;
      return isGzip ? compress(rows) : rows;
    },
  };
}

const toCsvField = (record: Uint8Array): Buffer =>
  Buffer.from(csvField(plainJson(Buffer.from(record).toString())));

/** Returns counts of no rows. */
export const noRows = (): ComposedRows => ({ bytes: 0, items: 0, records: {} });

/**
 * Writes the final segment of a batch whose units all have an outcome. For kinds with a file per
 * batch, the segment is that file, with head and tail.
 */
export async function writeSegment(
  { blobs, jobTypes }: JobContext,
  job: Job,
  batch: Batch,
  source: RecordSource,
): Promise<{ segment: Segment; file: StoredFile | null }> {
  const { files } = jobTypes.of(job).kind;
  const format = files.batch ?? files.job;
  const pack: Rows = format ?? recordsOnly;
  const head = files.batch?.head(job) ?? '';
  const tail = files.batch?.tail(job) ?? '';
  const start = Buffer.byteLength(head);
  const composed = { ...noRows(), bytes: start };
  const content = async function* () {
    if (head !== '') yield head;
    yield* composeRows(pack, job, batch, source, composed);
    if (tail !== '') yield tail;
  };
  const path = files.batch ? `${job.id}/${files.batch.name(job, batch)}` : segmentPath(batch);
  const contentType = format?.contentType(job) ?? recordsOnly.contentType;
  const file = await blobs.write(path, contentType, content(), () => composed.items);
  const segment: Segment = {
    path,
    bytes: file.bytes,
    sha256: file.sha256,
    encoding: pack.gzip ? 'gzip' : pack.encoding(job),
    records: composed.records,
    body: { start, end: file.bytes - Buffer.byteLength(tail), items: composed.items },
  };
  return { segment, file: files.batch ? file : null };
}

/** Writes a segment of bare records. Returns null if there are none. */
export async function writeRecords(
  { blobs }: JobContext,
  path: string,
  records: RecordsByUnit,
): Promise<Segment | null> {
  if (records.size === 0) return null;
  const places: Segment['records'] = {};
  let offset = 0;
  for (const [index, record] of records) {
    places[index] = [offset, record.byteLength, crc32(record)];
    offset += record.byteLength;
  }
  const content = streamOf(records.values());
  const { bytes, sha256 } = await blobs.write(
    path,
    recordsOnly.contentType,
    content,
    () => records.size,
  );
  return {
    path,
    bytes,
    sha256,
    encoding: 'plain',
    records: places,
    body: null,
  };
}

/**
 * Returns the path of a batch's segment, unique per attempt. Segments of an unfinished batch also
 * have a sequence number.
 */
export function segmentPath({ jobId, seq, id, attempt }: Batch, sequence?: number): string {
  const suffix = sequence === undefined ? '' : `_${sequence}`;
  return `${jobId}/segment_${seq + 1}_${id}_${attempt}${suffix}`;
}

/** Returns true if an attempt at a batch has written records to which its outcomes refer. */
export function hasSegmentOf(batch: Batch, attempt: number): boolean {
  const prefix = `${segmentPath({ ...batch, attempt })}_`;
  return batch.segments.some(({ path }) => path.startsWith(prefix));
}

/** Yields the bytes of records in blocks. */
export async function* streamOf(records: Iterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  let group: Uint8Array[] = [];
  let bytes = 0;
  for (const record of records) {
    group.push(record);
    bytes += record.byteLength;
    if (bytes < groupBytes) continue;
    yield Buffer.concat(group, bytes);
    group = [];
    bytes = 0;
  }
  if (bytes > 0) yield Buffer.concat(group, bytes);
}

/** Returns the current version of a batch by its position in its job, or null if there is none. */
export async function readBatch(store: Store, jobId: string, seq: number): Promise<Batch | null> {
  const [batch = null] = await Array.fromAsync(store.batches.read(jobId, { seqs: [seq] }));
  return batch;
}

/** Reader of the records of a batch. Calls must not overlap. */
export interface StoredRecordReader {
  /** Returns the stored bytes of a unit's record, or null if the unit has none. */
  read(index: number): Promise<Uint8Array | null>;
  /** Reads the record of a unit, and adjacent ones, in advance. */
  prefetch(index: number): Promise<void>;
}

/**
 * Maximum bytes of records that a reader holds and reads with one request. A single record may be
 * larger.
 */
const maxAheadBytes = 8 * 1024 ** 2;

/** Maximum bytes between two records that are read with one request. */
const maxGapBytes = 64 * 1024;

/**
 * Creates a reader of a batch's records, or of the units in `requested`, to be read in ascending
 * order. Reads adjacent records together. When a batch ends, its records move to another segment;
 * if a segment is missing, the reader looks for it in the current version of the batch. Throws
 * `storage_damaged` for a record that is missing or changed, `results_deleted` if the files of the
 * job were removed.
 */
export function openRecords(
  { store, blobs }: JobContext,
  batch: Batch,
  requested: readonly number[] = [...batch.units.keys()],
): StoredRecordReader {
  const indexes = new Set(requested.filter((index) => isRecord(batch.outcomes[index])));
  const ahead = new Map<number, Uint8Array>();
  let aheadBytes = 0;
  let current = batch;
  const load = async (index: number) => {
    const segment = current.segments.find(({ records }) => index in records);
    if (segment === undefined) throw new Fault('not_found', `There is no record of unit ${index}.`);
    const maxBytes = maxAheadBytes - aheadBytes;
    const run = await readRun(blobs, segment, index, indexes, maxBytes);
    for (const [at, bytes] of run) {
      ahead.set(at, bytes);
      aheadBytes += bytes.length;
    }
  };
  const prefetch = async (index: number) => {
    if (!indexes.has(index) || ahead.has(index)) return;
    try {
      return await load(index);
    } catch (error) {
      if (Fault.from(error).code !== 'not_found') throw error;
    }
    current = (await readBatch(store, batch.jobId, batch.seq)) ?? batch;
    try {
      await load(index);
    } catch (error) {
      if (Fault.from(error).code !== 'not_found') throw error;
      const path = current.segments.find(({ records }) => index in records)?.path;
      throw await missingFile(blobs, batch, path, error);
    }
  };
  return {
    prefetch,

    async read(index) {
      if (!indexes.has(index)) return null;
      await prefetch(index);
      const bytes = ahead.get(index)!;
      ahead.delete(index);
      indexes.delete(index);
      aheadBytes -= bytes.length;
      return bytes;
    },
  };
}

/** Yields the records of a batch, with the indexes of their units. */
export async function* readRecords(
  context: JobContext,
  batch: Batch,
): AsyncGenerator<[index: number, record: Uint8Array]> {
  const records = openRecords(context, batch);
  for (const index of batch.units.keys()) {
    const record = await records.read(index);
    if (record !== null) yield [index, record];
  }
}

/** Returns the record of one unit, or null if it has none. */
export function readRecord(
  context: JobContext,
  batch: Batch,
  index: number,
): Promise<Uint8Array | null> {
  return openRecords(context, batch, [index]).read(index);
}

/** Returns true if the result of a unit is a record, not a file. */
export function isRecord(outcome: Outcome | undefined): boolean {
  return outcome?.status === 'SUCCESS' && outcome.file === undefined;
}

/**
 * Reads the record of a unit, and the following ones of `requested` up to `maxBytes`, with one
 * request.
 */
async function readRun(
  blobs: Blobs,
  segment: Segment,
  index: number,
  requested: ReadonlySet<number>,
  maxBytes: number,
): Promise<[index: number, record: Uint8Array][]> {
  const { path, encoding, records } = segment;
  const [start, length] = records[index]!;
  let end = start + length;
  const run = [index];
  const behind = Object.keys(records)
    .map(Number)
    .filter((at) => records[at]![0] >= end && at !== index && requested.has(at))
    .sort((one, other) => records[one]![0] - records[other]![0]);
  for (const at of behind) {
    const [offset, bytes] = records[at]!;
    if (offset + bytes - start > maxBytes || offset - end > maxGapBytes) break;
    run.push(at);
    end = offset + bytes;
  }
  const stored =
    encoding === 'gzip'
      ? await inflateRange(await readBody(blobs, segment), path, start, end)
      : await readRange(blobs, path, start, end);
  if (stored.length !== end - start) throw damagedFile(path, `ends before byte ${end}`);
  return run.map((at) => {
    const [offset, bytes, checksum] = records[at]!;
    const from = offset - start;
    const content = stored.subarray(from, from + bytes);
    if (crc32(content) !== checksum)
      throw damagedFile(path, `has another record of unit ${at} than was written`);
    const record = encoding === 'csv' ? Buffer.from(readCsvField(content.toString())) : content;
    return [at, record];
  });
}

/**
 * Returns a range of the content of a compressed file, without holding the bytes before it. Throws
 * `storage_damaged` if it cannot be decompressed.
 */
async function inflateRange(
  source: Readable,
  path: string,
  start: number,
  end: number,
): Promise<Buffer> {
  const chunks: Uint8Array[] = [];
  const content = createGunzip({ chunkSize: 128 * 1024 });
  let at = 0;
  // A failure of the source ends the content with its error.
  pipeline(source, content, () => {});
  try {
    for await (const chunk of content as AsyncIterable<Buffer>) {
      chunks.push(chunk.subarray(Math.max(0, start - at), Math.max(0, end - at)));
      at += chunk.length;
      if (at >= end) break;
    }
  } catch (error) {
    if (!(error as NodeJS.ErrnoException).code?.startsWith('Z_')) throw error;
    throw damagedFile(path, 'has other contents than were written', error);
  }
  return Buffer.concat(chunks);
}

/**
 * Returns the fault for a batch whose file, by default a segment, is missing: `results_deleted` if
 * all files of the job are missing, because a person or a rule of the storage removed them,
 * otherwise `storage_damaged`.
 */
async function missingFile(
  blobs: Blobs,
  { id, jobId }: Batch,
  path: string | undefined,
  cause: unknown,
): Promise<Fault> {
  if (!(await hasFiles(blobs, jobId))) return filesRemoved(cause);
  return damagedFile(path ?? `${jobId}/segment of batch ${id}`, 'is missing', cause);
}

/** Returns true if the result storage has a file of a job. */
export async function hasFiles(blobs: Blobs, jobId: string): Promise<boolean> {
  return (await blobs.listJob(jobId)).length > 0;
}

/** Creates the fault for a job whose files were removed from the storage by another program. */
export function filesRemoved(cause?: unknown): Fault {
  const message = 'The result files of this job were removed from the result storage.';
  return new Fault('results_deleted', message, { cause });
}

/** Opens the rows of a segment. */
function readBody(blobs: Blobs, { path, body }: Segment): Promise<Readable> {
  const { start, end } = body!;
  return blobs.read(path, { start, end: end - 1 });
}

/** Returns the segment with the rows of a batch, or undefined if it has none. */
export function segmentWithRows({ segments }: Pick<Batch, 'segments'>): Segment | undefined {
  return segments.find(({ body }) => body !== null);
}

/**
 * Streams the rows of a segment. If another process ends the job and moves them to the merged file,
 * continues in the current version of the batch. Throws `storage_damaged` and `results_deleted`
 * like openRecords().
 */
export async function* readRows(
  context: JobContext,
  batch: Batch,
  segment: Segment,
): AsyncGenerator<Uint8Array> {
  const { blobs, store } = context;
  const { path } = segment;
  let left = segment.body!.end - segment.body!.start;
  try {
    for await (const chunk of readStoredRows(blobs, batch, segment)) {
      left -= chunk.length;
      yield chunk;
    }
  } catch (error) {
    if (Fault.from(error).code !== 'not_found') throw error;
    const current = await readBatch(store, batch.jobId, batch.seq);
    const moved = current === null ? undefined : segmentWithRows(current);
    if (moved === undefined || moved.path === path)
      throw await missingFile(blobs, batch, path, error);
    yield* readRows(context, batch, moved);
    return;
  }
  if (left !== 0) throw damagedFile(path, `ends before byte ${segment.body!.end}`);
}

/**
 * Yields the rows of a segment. Reads all of its blob to compare it with its record, unless that is
 * the merged file of the job.
 */
async function* readStoredRows(
  blobs: Blobs,
  { file }: Batch,
  segment: Segment,
): AsyncGenerator<Uint8Array> {
  const { path, bytes, sha256 } = segment;
  const { start, end } = segment.body!;
  if (path !== file?.path && end - start !== bytes) {
    yield* (await readBody(blobs, segment)) as AsyncIterable<Uint8Array>;
    return;
  }
  let at = 0;
  for await (const chunk of compareFile(path, { bytes, sha256 }, await blobs.read(path))) {
    const rows = chunk.subarray(Math.max(0, start - at), Math.max(0, end - at));
    at += chunk.length;
    if (rows.length > 0) yield rows;
  }
}

/** Yields the entries of a unit's file. Throws `storage_damaged`, `results_deleted`. */
export async function* readFileEntries(
  { blobs }: JobContext,
  pack: UnitFilePack,
  file: StoredFile,
): AsyncGenerator<FileEntry> {
  const { path, items } = file;
  let count = 0;
  for await (const entry of pack.entries(linesOf(readFile(blobs, file)))) {
    count++;
    yield entry;
  }
  if (count !== items) throw damagedFile(path, `has ${count} entries instead of ${items}`);
}

/** Yields the contents of a result file. Throws `storage_damaged`, `results_deleted`. */
async function* readFile(blobs: Blobs, file: StoredFile): AsyncGenerator<Uint8Array> {
  const { path } = file;
  const stored = await blobs.read(path).catch(async (error: unknown) => {
    if (Fault.from(error).code !== 'not_found') throw error;
    if (await hasFiles(blobs, parsePath(path).jobId)) throw damagedFile(path, 'is missing', error);
    throw filesRemoved(error);
  });
  yield* compareFile(path, file, stored);
}

async function readRange(blobs: Blobs, path: string, start: number, end: number): Promise<Buffer> {
  if (end === start) return Buffer.alloc(0);
  // Unlike buffer() of Node, which takes several times as long for small files.
  return Buffer.concat(await Array.fromAsync(await blobs.read(path, { start, end: end - 1 })));
}
