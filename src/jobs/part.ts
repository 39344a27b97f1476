import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import { csvField } from '../base/csv.ts';
import { Fault } from '../base/fault.ts';
import type { FilePack } from '../kinds/kind.ts';
import type { Batch, Job, Part, StoredFile } from '../store/documents.ts';
import type { JobContext } from './context.ts';

/** Records by the unit's index. */
export type Records = ReadonlyMap<number, Uint8Array>;

type Rows = Pick<FilePack, 'gzip' | 'encoding' | 'separator' | 'row'>;

const compress = promisify(gzip);

/** The rows of a kind without a merged file: its records, one after the other. */
const recordsOnly = {
  gzip: false,
  encoding: () => 'plain',
  contentType: 'application/octet-stream',
  separator: '',
  row: (_unit, outcome) => (outcome.status === 'SUCCESS' ? ['', ''] : null),
} as const satisfies Rows & { contentType: string };

/** The rows of a batch in the format of its job's file. */
export interface ComposedRows {
  chunks: (string | Uint8Array)[];
  bytes: number;
  items: number;
  /** Places of the records, from the beginning of the rows. */
  records: Part['records'];
}

/** Composes the rows of a batch in submission order. Fault `internal` when a successful unit has no record. */
export function composeRows(pack: Rows, job: Job, batch: Batch, records: Records): ComposedRows {
  const composed: ComposedRows = { chunks: [], bytes: 0, items: 0, records: {} };
  const add = (chunk: string | Uint8Array) => {
    if (chunk.length === 0) return;
    composed.chunks.push(chunk);
    composed.bytes += Buffer.byteLength(chunk);
  };
  const place = { job, region: batch.region };
  const encoding = pack.encoding(job);
  for (const [index, unit] of batch.units.entries()) {
    const outcome = batch.outcomes[index];
    const row = outcome ? pack.row(unit, outcome, place) : null;
    if (!row) continue;
    if (composed.items > 0) add(pack.separator);
    add(row[0]);
    if (outcome?.status === 'SUCCESS') {
      const record = records.get(index);
      // A file without it would say that the unit failed, and it was paid for.
      if (!record) throw new Fault('internal', `unit ${index} of batch ${batch.id} has lost its record`);
      const bytes = encoding === 'csv' ? Buffer.from(csvField(Buffer.from(record).toString())) : record;
      composed.records[index] = [composed.bytes, bytes.byteLength];
      add(bytes);
    }
    add(row[1]);
    composed.items += 1;
  }
  return composed;
}

/** Compresses rows to a gzip member; other members may precede and follow it. */
export async function toMember({ chunks }: ComposedRows): Promise<Buffer> {
  return compress(Buffer.concat(chunks.map((chunk) => Buffer.from(chunk as string))));
}

/**
 * Writes the part of a batch whose units all have an outcome. For kinds with a file per batch the part is that
 * file, complete with head and tail.
 */
export async function writePart(
  { blobs, offers }: JobContext,
  job: Job,
  batch: Batch,
  records: Records,
): Promise<{ part: Part; file: StoredFile | null }> {
  const { files } = offers.of(job).kind;
  const format = files.batch ?? files.job;
  const pack: Rows = format ?? recordsOnly;
  const rows = composeRows(pack, job, batch, records);
  const [head, tail] = files.batch ? [files.batch.head(job), files.batch.tail(job)] : ['', ''];
  const chunks = pack.gzip ? [await toMember(rows)] : [head, ...rows.chunks, tail];
  const path = files.batch ? `${job.id}/${files.batch.name(job, batch)}` : partPath(batch);
  const contentType = format?.contentType(job) ?? recordsOnly.contentType;
  const file = await blobs.write(path, contentType, streamOf(chunks), () => rows.items);
  const start = Buffer.byteLength(head);
  const part: Part = {
    path,
    encoding: pack.gzip ? 'gzip' : pack.encoding(job),
    records: shifted(rows.records, start),
    body: { start, end: file.bytes - Buffer.byteLength(tail), items: rows.items },
  };
  return { part, file: files.batch ? file : null };
}

/** Writes records as they are, one after the other; null when there are none. */
export async function writeRecords(
  { blobs }: Pick<JobContext, 'blobs'>,
  path: string,
  records: Records,
): Promise<Part | null> {
  if (records.size === 0) return null;
  const places: Part['records'] = {};
  let offset = 0;
  for (const [index, { byteLength }] of records) {
    places[index] = [offset, byteLength];
    offset += byteLength;
  }
  await blobs.write(path, recordsOnly.contentType, streamOf([...records.values()]), () => records.size);
  return { path, encoding: 'plain', records: places, body: null };
}

/** Path of a batch's part. It carries the attempt; parts of a batch under way have a sequence number, too. */
export function partPath({ jobId, seq, id, attempt }: Batch, sequence?: number): string {
  return `${jobId}/part_${seq + 1}_${id}_${attempt}${sequence === undefined ? '' : `_${sequence}`}`;
}

async function* streamOf(chunks: readonly (string | Uint8Array)[]): AsyncGenerator<string | Uint8Array> {
  yield* chunks;
}

function shifted(records: Part['records'], by: number): Part['records'] {
  if (by === 0) return records;
  return Object.fromEntries(
    Object.entries(records).map(([index, [offset, length]]) => [index, [offset + by, length]]),
  );
}
