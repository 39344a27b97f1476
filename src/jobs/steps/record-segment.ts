import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import { csvField, plainJson } from '../../base/csv.ts';
import { Fault } from '../../contract/fault.ts';
import type { FilePack } from '../../kinds/kind.ts';
import type { Batch, Segment } from '../../store/batches.ts';
import type { Job, StoredFile } from '../../store/documents.ts';
import type { JobContext } from '../context.ts';

/** Serialized records by unit index. */
export type Records = ReadonlyMap<number, Uint8Array>;

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
 * Yields the rows of a batch in submission order in the format of its job's file, and counts them in
 * `composed`. Holds a few records in memory. In CSV, records keep their values, not each byte (plainJson()).
 * Throws `internal` when a successful unit has no record.
 */
export async function* composeRows(
  pack: Rows,
  job: Job,
  batch: Batch,
  source: RecordSource,
  composed: ComposedRows,
): AsyncGenerator<Uint8Array> {
  let group: Uint8Array[] = [];
  let groupSize = 0;
  const add = (chunk: string | Uint8Array) => {
    if (chunk.length === 0) return;
    const bytes = typeof chunk === 'string' ? Buffer.from(chunk) : chunk;
    group.push(bytes);
    groupSize += bytes.byteLength;
    composed.bytes += bytes.byteLength;
  };
  const takeGroup = async () => {
    const bytes = Buffer.concat(group, groupSize);
    group = [];
    groupSize = 0;
    return pack.gzip ? compress(bytes) : bytes;
  };
  const maxGroup = pack.gzip ? memberBytes : groupBytes;
  const place = { job, region: batch.region };
  const encoding = pack.encoding(job);
  for (const [index, unit] of batch.units.entries()) {
    const outcome = batch.outcomes[index];
    const row = outcome ? pack.row(unit, outcome, place) : null;
    if (!row) continue;
    if (composed.items > 0) add(pack.separator);
    add(row[0]);
    if (outcome?.status === 'SUCCESS') {
      const given = source(index);
      const record = given instanceof Promise ? await given : given;
      // The unit was charged; a file without its record would report it as failed.
      if (!record) throw new Fault('internal', `unit ${index} of batch ${batch.id} has lost its record`);
      const bytes =
        encoding === 'csv' ? Buffer.from(csvField(plainJson(Buffer.from(record).toString()))) : record;
      composed.records[index] = [composed.bytes, bytes.byteLength];
      add(bytes);
    }
    add(row[1]);
    composed.items += 1;
    if (groupSize >= maxGroup) yield await takeGroup();
  }
  if (groupSize > 0) yield await takeGroup();
}

/** Returns counts of no rows. */
export const noRows = (): ComposedRows => ({ bytes: 0, items: 0, records: {} });

/**
 * Writes the final segment of a batch whose units all have an outcome. For kinds with a file per batch, the
 * segment is that file, with head and tail.
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
  const [head, tail] = files.batch ? [files.batch.head(job), files.batch.tail(job)] : ['', ''];
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
  records: Records,
): Promise<Segment | null> {
  if (records.size === 0) return null;
  const places: Segment['records'] = {};
  let offset = 0;
  for (const [index, { byteLength }] of records) {
    places[index] = [offset, byteLength];
    offset += byteLength;
  }
  const content = streamOf(records.values());
  const { bytes } = await blobs.write(path, recordsOnly.contentType, content, () => records.size);
  return { path, bytes, encoding: 'plain', records: places, body: null };
}

/**
 * Returns the path of a batch's segment, unique per attempt. Segments of an unfinished batch also have a
 * sequence number.
 */
export function segmentPath({ jobId, seq, id, attempt }: Batch, sequence?: number): string {
  return `${jobId}/segment_${seq + 1}_${id}_${attempt}${sequence === undefined ? '' : `_${sequence}`}`;
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
