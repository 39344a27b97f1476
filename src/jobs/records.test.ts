import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { buffer, text } from 'node:stream/consumers';
import { gunzipSync } from 'node:zlib';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { contextWith } from '../../test/support/jobs/context.ts';
import type { Blobs } from '../blobs/blobs.ts';
import { openFiles } from '../blobs/files/open.ts';
import { Fault } from '../contract/fault.ts';
import { jobFile as csvFile } from '../kinds/get-pc-bulk/index.ts';
import type { FilePack } from '../kinds/kind.ts';
import { jobFile as gzipFile } from '../kinds/pdp-bulk/index.ts';
import { batchFile, jobFile } from '../kinds/variant-sold/index.ts';
import type { Batch, Outcome, Segment, Unit } from '../store/batches.ts';
import { aBatch, aFailure, aJob, aSuccess } from '../store/conformance/samples.ts';
import type { JobContext } from './context.ts';
import {
  openRecords,
  readRecord,
  readRecords,
  segmentPath,
  writeRecords,
  writeSegment,
} from './records.ts';
import { compile, replaceSegments } from './steps/merged-file.ts';

let folder: string;
let blobs: Blobs;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'gleaner-segments-'));
  blobs = openFiles({ directory: folder });
});
afterEach(async () => {
  await blobs.close();
  await rm(folder, { recursive: true, force: true });
});

const identity = [{ name: 'item_id', from: 'item_id', numbered: false }];
const job = aJob({ number: 7, params: { identity, resultFormat: 'csv' } });
const records = new Map(
  ['{"a":"é \\"x\\", y"}', '{"a": 1.0,  "b":"ラ\\r\\n"}', '{}'].map((json, index) => [
    index * 2,
    Buffer.from(json),
  ]),
);
const source = (index: number) => records.get(index);
const unit = (index: number): Unit => ({
  key: `${index}`,
  input: { item_id: `${index}`, shop_id: '1', id: `${index}` },
});
const outcomes: Record<number, Outcome> = {
  0: aSuccess(),
  1: aFailure,
  2: aSuccess(),
  3: aFailure,
  4: aSuccess(),
};

interface Files {
  batch?: FilePack;
  job?: FilePack;
}

/** A context in which jobs have these files, and a job has these batches. */
function contextOf(files: Files, ...batches: Batch[]): JobContext {
  const read = async function* (_jobId: string, { seqs }: { seqs?: readonly number[] } = {}) {
    yield* batches.filter(({ seq }) => seqs?.includes(seq) ?? true);
  };
  const jobTypes = { of: () => ({ kind: { files } }) as never };
  return contextWith({
    store: { batches: { read } as never },
    blobs,
    jobTypes,
    clock: { now: () => 0 },
  });
}

const aDone = (seq: number) =>
  aBatch(
    job,
    seq,
    [0, 1, 2, 3, 4].map((index) => unit(index)),
    { attempt: 1, outcomes },
  );

const textsOf = (found: Iterable<[number, Uint8Array]>) =>
  [...found].map(([index, body]) => [index, Buffer.from(body).toString()]);
const collectRecords = (context: JobContext, batch: Batch) =>
  Array.fromAsync(readRecords(context, batch));

const formats: [string, Files][] = [
  ['a file per batch', { batch: batchFile, job: jobFile }],
  ['a CSV file', { job: csvFile }],
  ['a compressed file', { job: gzipFile }],
  ['no file', {}],
];

describe.each(formats)('a segment of a kind with %s', (_name, files) => {
  test('returns every record byte for byte, together and individually', async () => {
    const batch = aDone(0);
    const { segment } = await writeSegment(contextOf(files), job, batch, source);
    const whole = { ...batch, segments: [segment] };
    const context = contextOf(files, whole);
    expect(textsOf(await collectRecords(context, whole))).toEqual(textsOf(records));
    for (const index of [0, 1, 2, 3, 4]) {
      const record = await readRecord(context, whole, index);
      expect(record && Buffer.from(record).toString()).toBe(records.get(index)?.toString() ?? null);
    }
  });

  test('is copied into the merged file, which is the same as without segments', async () => {
    if (!files.job) return;
    const batches = [aDone(0), aDone(1), aBatch(job, 2, [unit(9)], { outcomes: { 0: aFailure } })];
    const composed = [];
    const partial = [];
    for (const batch of batches.slice(0, 2)) {
      const { segment } = await writeSegment(contextOf(files), job, batch, source);
      composed.push({ ...batch, segments: [segment] });
      const halves = [
        new Map([[0, records.get(0)!]]),
        new Map([
          [4, records.get(4)!],
          [2, records.get(2)!],
        ]),
      ];
      const segments = [];
      for (const [at, half] of halves.entries())
        segments.push((await writeRecords(contextWith({ blobs }), segmentPath(batch, at), half))!);
      partial.push({ ...batch, segments });
      expect(textsOf(await collectRecords(contextOf(files), { ...batch, segments }))).toEqual(
        textsOf(records),
      );
    }
    const contentOf = async (all: Batch[]) => {
      const { file } = (await compile(contextOf(files, ...all, batches[2]!), job, 6))!;
      const bytes = await buffer(await blobs.read(file.path));
      const gives = files.job!.gzip ? gunzipSync(bytes) : bytes;
      return { items: file.items, text: gives.toString() };
    };
    const merged = await contentOf(composed);
    expect(merged.items).toBe(files.job.gzip ? 6 : 11);
    expect(await contentOf(partial)).toEqual(merged);
  });
});

test.each(formats.filter(([, { job: merged }]) => merged !== undefined))(
  'a merged file replaces the segments, and each record is read from it: %s',
  async (_name, files) => {
    const batches: Batch[] = [];
    for (const batch of [aDone(0), aDone(1), aDone(2)]) {
      const { segment } = await writeSegment(contextOf(files), job, batch, source);
      batches.push({ ...batch, segments: [segment], storedBytes: segment.bytes });
    }
    const context = contextOf(files, ...batches);
    const writeAll: JobContext['store']['batches']['writeAll'] = async (_inserts, updates = []) => {
      for (const [{ id }, change] of updates)
        Object.assign(batches.find((batch) => batch.id === id)!, change);
    };
    const store = {
      jobs: { update: async () => job } as never,
      batches: { ...context.store.batches, writeAll },
    };
    const merged = (await compile(context, job, 9))!;
    await replaceSegments({ ...context, ...contextWith({ store }) }, job, merged, 3);
    expect(await blobs.listJob(job.id)).toEqual([merged.file.path]);
    for (const batch of batches) {
      expect(batch).toMatchObject({ segments: [{ path: merged.file.path }], storedBytes: 0 });
      expect(textsOf(await collectRecords(context, batch))).toEqual(textsOf(records));
      for (const index of [4, 0, 2])
        expect((await readRecord(context, batch, index))?.toString()).toBe(
          records.get(index)!.toString(),
        );
    }
    const { sha256, bytes } = (await compile(context, job, 9))!.file;
    expect([sha256, bytes]).toEqual([merged.file.sha256, merged.file.bytes]);
  },
);

test('the segment of a kind with a file per batch is the complete file', async () => {
  const batch = aDone(0);
  const { segment, file } = await writeSegment(
    contextOf({ batch: batchFile, job: jobFile }),
    job,
    batch,
    source,
  );
  expect(file).toMatchObject({ path: segment.path, items: 5, contentType: 'application/json' });
  const content = await text(await blobs.read(segment.path));
  expect(JSON.parse(content)).toHaveLength(5);
  expect(content.slice(segment.body!.start, segment.body!.start + 1)).toBe('{');
});

test('a record whose batch ended meanwhile is read from the new segment', async () => {
  const batch = aDone(0);
  const before = await writeRecords(contextWith({ blobs }), segmentPath(batch, 1), records);
  const { segment } = await writeSegment(contextOf({ job: csvFile }), job, batch, source);
  await blobs.remove([before!.path]);
  const context = contextOf({ job: csvFile }, { ...batch, segments: [segment] });
  const stale = { ...batch, segments: [before!] };
  expect(textsOf(await collectRecords(context, stale))).toEqual(textsOf(records));
  expect((await readRecord(context, stale, 2))?.toString()).toBe(records.get(2)!.toString());
});

test('writing a successful unit without its record fails', async () => {
  const some = new Map([[0, records.get(0)!]]);
  await expect(
    writeSegment(contextOf({ job: csvFile }), job, aDone(0), (index) => some.get(index)),
  ).rejects.toMatchObject({
    code: 'internal',
    message: expect.stringContaining('unit 2 of batch'),
  });
});

test('records in a CSV file are quoted', async () => {
  const { segment } = await writeSegment(contextOf({ job: csvFile }), job, aDone(0), source);
  expect(await text(await blobs.read(segment.path))).toContain('"{""a"":""é \\""x\\"", y""}"');
});

test('a unit with its own file has no record', async () => {
  const file = { path: 'j/unit', contentType: 'text/plain', items: 1, bytes: 1, sha256: '' };
  const batch = aBatch(job, 0, [unit(0)], { outcomes: { 0: { ...aSuccess(), file } as Outcome } });
  expect(await readRecord(contextOf({}, batch), batch, 0)).toBeNull();
  expect(await collectRecords(contextOf({}, batch), batch)).toEqual([]);
});

describe('while the result storage is unavailable', () => {
  const away = new Fault('unavailable', 'The storage is away.');

  test('a record is requested once', async () => {
    const segment = await writeRecords(contextWith({ blobs }), 'j/p', records);
    const batch = { ...aDone(0), segments: [segment!] };
    let reads = 0;
    const read = async () => {
      reads += 1;
      throw away;
    };
    const context = { ...contextOf({}, batch), blobs: { ...blobs, read } };
    await expect(readRecord(context, batch, 0)).rejects.toBe(away);
    expect(reads).toBe(1);
  });

  test('a record that moved is not reported as lost', async () => {
    const segment = await writeRecords(contextWith({ blobs }), 'j/p', records);
    const batch = { ...aDone(0), segments: [segment!] };
    const errors = [new Fault('not_found', 'No such file.'), away];
    const read = async () => Promise.reject(errors.shift());
    const context = { ...contextOf({}, batch), blobs: { ...blobs, read } };
    await expect(readRecord(context, batch, 0)).rejects.toBe(away);
  });

  test('rows are not reported as lost', async () => {
    const context = contextOf({ job: csvFile });
    const { segment } = await writeSegment(context, job, aDone(0), source);
    const compiling = contextOf({ job: csvFile }, { ...aDone(0), segments: [segment] });
    const read = () => Promise.reject(away);
    await expect(
      compile({ ...compiling, blobs: { ...blobs, read } }, job, 3),
    ).rejects.toMatchObject({
      code: 'unavailable',
    });
  });
});

test('a missing segment is damage while the job has other files, and deleted results otherwise', async () => {
  const { segment } = await writeSegment(contextOf({ job: csvFile }), job, aDone(0), source);
  await writeRecords(contextWith({ blobs }), `${job.id}/other`, records);
  await blobs.remove([segment.path]);
  const context = contextOf({ job: csvFile }, { ...aDone(0), segments: [segment] });
  await expect(compile(context, job, 3)).rejects.toMatchObject({
    code: 'storage_damaged',
    message: expect.stringContaining(`${segment.path} is missing`),
  });
  await blobs.removeJob(job.id);
  await expect(compile(context, job, 3)).rejects.toMatchObject({ code: 'results_deleted' });
});

test.each<[string, Files]>([
  ['of bare records', {}],
  ['of a CSV file', { job: csvFile }],
  ['with a file per batch', { batch: batchFile, job: jobFile }],
])('a changed record of a segment %s is damage', async (_name, files) => {
  const { segment, file } = await writeSegment(contextOf(files), job, aDone(0), source);
  const bytes = Buffer.concat(await Array.fromAsync(await blobs.read(segment.path)));
  const [offset] = segment.records[0]!;
  bytes[offset + 1]! ^= 1;
  await blobs.write(segment.path, 'text/plain', Readable.from([bytes]), () => 3);
  const batch = { ...aDone(0), segments: [segment], file };
  const changed = { code: 'storage_damaged', message: expect.stringContaining(segment.path) };
  await expect(readRecord(contextOf(files, batch), batch, 0)).rejects.toMatchObject(changed);
  if (files.job)
    await expect(compile(contextOf(files, batch), job, 3)).rejects.toMatchObject(changed);
});

test.each([
  ['its first bytes are zeros', (bytes: Buffer) => bytes.fill(0, 0, 8)],
  ['its end is missing', (bytes: Buffer) => bytes.subarray(0, -16)],
])('a compressed segment is damaged if %s', async (_, damage) => {
  const files = { job: gzipFile };
  const { segment } = await writeSegment(contextOf(files), job, aDone(0), source);
  const bytes = await buffer(await blobs.read(segment.path));
  const body = bytes.subarray(segment.body!.start, segment.body!.end);
  const damaged = [bytes.subarray(0, segment.body!.start), damage(body)];
  await blobs.write(segment.path, 'application/gzip', Readable.from(damaged), () => 3);
  const batch = { ...aDone(0), segments: [segment] };
  await expect(readRecord(contextOf(files, batch), batch, 4)).rejects.toMatchObject({
    code: 'storage_damaged',
    message: expect.stringContaining(segment.path),
  });
});

test('reports a missing record and a truncated segment as damage', async () => {
  const batch = aDone(0);
  const context = contextOf({ job: csvFile }, batch);
  await expect(readRecord(context, batch, 0)).rejects.toMatchObject({
    code: 'results_deleted',
  });
  const { segment } = await writeSegment(context, job, batch, source);
  const shorter = { ...segment, body: { ...segment.body!, end: segment.body!.end + 1 } };
  const changed = { code: 'storage_damaged', message: expect.stringContaining('ends before byte') };
  const compiling = compile(contextOf({ job: csvFile }, { ...batch, segments: [shorter] }), job, 3);
  await expect(compiling).rejects.toMatchObject(changed);
  const records: Segment['records'] = { 0: [0, segment.body!.end + 1, 0] };
  const cut = { ...batch, segments: [{ ...segment, records }] };
  await expect(readRecord(contextOf({ job: csvFile }, cut), cut, 0)).rejects.toMatchObject(changed);
});

test('records are returned unchanged, whatever they contain', async () => {
  const segment = await writeRecords(
    contextWith({ blobs }),
    'j/p',
    new Map([[0, Buffer.from('"a, ""b"""')]]),
  );
  expect(segment).toMatchObject({ encoding: 'plain' });
  const batch = { ...aDone(0), outcomes: { 0: aSuccess() }, segments: [segment!] };
  expect((await readRecord(contextOf({}, batch), batch, 0))?.toString()).toBe('"a, ""b"""');
});

test('an empty record has an empty byte range', async () => {
  const segment = await writeRecords(
    contextWith({ blobs }),
    'j/p',
    new Map([[0, Buffer.alloc(0)]]),
  );
  const batch = { ...aDone(0), outcomes: { 0: aSuccess() }, segments: [segment!] };
  expect((await readRecord(contextOf({}, batch), batch, 0))?.byteLength).toBe(0);
});

describe('large records', () => {
  const mib = 1024 ** 2;
  const large = new Map([0, 2, 4].map((index) => [index, Buffer.alloc(3 * mib, `${index}`)]));

  test('are read in portions of at most eight MiB', async () => {
    const segment = await writeRecords(contextWith({ blobs }), 'j/p', large);
    const batch = { ...aDone(0), segments: [segment!] };
    const ranges: number[] = [];
    const read: Blobs['read'] = (path, range) => {
      ranges.push(range!.end! - range!.start! + 1);
      return blobs.read(path, range);
    };
    const context = { ...contextOf({}, batch), blobs: { ...blobs, read } };
    for await (const [index, record] of readRecords(context, batch))
      expect(Buffer.compare(record, large.get(index)!)).toBe(0);
    expect(ranges).toEqual([6 * mib, 3 * mib]);
  });

  test('are read apart from others that are far away', async () => {
    const segment = await writeRecords(contextWith({ blobs }), 'j/p', large);
    const batch = { ...aDone(0), segments: [segment!] };
    const { read } = openRecords(contextOf({}, batch), batch, [0, 4]);
    for (const index of [0, 2, 4])
      expect((await read(index))?.byteLength).toBe(index === 2 ? undefined : 3 * mib);
  });

  test('are compressed as several members of one segment', async () => {
    const { segment } = await writeSegment(contextOf({ job: gzipFile }), job, aDone(0), (index) =>
      large.get(index),
    );
    const batch = { ...aDone(0), segments: [segment] };
    const context = contextOf({ job: gzipFile }, batch);
    for (const index of [4, 2, 0])
      expect(Buffer.compare((await readRecord(context, batch, index))!, large.get(index)!)).toBe(0);
    const { file } = (await compile(context, job, 3))!;
    const lines = gunzipSync(await buffer(await blobs.read(file.path)))
      .toString()
      .trim()
      .split('\n');
    expect([file.items, lines.length]).toEqual([3, 3]);
  });
});

test('writeRecords() writes no file without records', async () => {
  const write: Blobs['write'] = () => Promise.reject(new Error('written'));
  expect(
    await writeRecords(contextWith({ blobs: { ...blobs, write } }), 'job/segment', new Map()),
  ).toBeNull();
});
