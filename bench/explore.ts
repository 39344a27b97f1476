import { mkdtempSync, rmSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openFiles } from '../src/blobs/files/open.ts';
import { services } from '../src/contract/services.ts';
import type { JobContext } from '../src/jobs/context.ts';
import { resolveJobTypes } from '../src/jobs/job-types.ts';
import { createExplorer, type EntryQuery } from '../src/jobs/queries/explore.ts';
import { writeSegment } from '../src/jobs/records.ts';
import { kinds } from '../src/kinds/list.ts';
import { markets } from '../src/markets/list.ts';
import type { RecordReader } from '../src/markets/market.ts';
import { variants } from '../src/markets/mkta/product.ts';
import type { Batch, Outcome, Segment } from '../src/store/batches.ts';
import { aBatch, aJob, aSuccess } from '../src/store/conformance/samples.ts';
import { placeToken } from '../src/store/cursor.ts';
import type { Job } from '../src/store/documents.ts';
import { openSqliteStore } from '../src/store/sqlite/open.ts';
import { contextWith } from '../test/support/jobs/context.ts';
import { benchPages, region } from './support/pages.ts';
import { median } from './support/rounds.ts';

/** Times in milliseconds. */
export interface ExploreResult {
  records: number;
  bytes: number;
  /** Reading every segment and parsing every record. */
  bareMs: number;
  /** The first page of each query, in a service that has read none of the job. */
  firstMs: Record<keyof typeof queries, number>;
  /** The second page of an order. */
  nextMs: number;
}

const batchSize = 50;
const any: EntryQuery = { filter: [], search: '', sort: '', status: '', limit: 50, after: '' };
const queries = {
  sort: { ...any, sort: '-item.price' },
  search: { ...any, search: 'no such text' },
  filter: { ...any, filter: ['item.stock>=10'] },
};

/** Records of the fake marketplace A, as variant-sold jobs write them. */
function sampleRecords(): { input: Batch['units'][number]['input']; record: Uint8Array }[] {
  const reader = variants as RecordReader;
  return benchPages(500).map(({ item_id, shop_id, body }) => {
    const input = { item_id, shop_id };
    const page = { status: 200, headers: {}, body, url: 'http://127.0.0.1/', at: Date.now() };
    return { input, record: Buffer.from(JSON.stringify(reader.extract(page, input, region))) };
  });
}

/** Measures queries of an ended variant-sold job in SQLite and files. */
export async function measureExplore(rounds: number, records: number): Promise<ExploreResult> {
  const folder = mkdtempSync(join(tmpdir(), 'gleaner-bench-'));
  const store = openSqliteStore({ path: join(folder, 'gleaner.db') });
  const blobs = openFiles({ directory: join(folder, 'results') });
  const context = contextWith({
    store,
    blobs,
    jobTypes: resolveJobTypes(services, kinds, markets),
  });
  try {
    const { job, segments } = await fillJob(context, records);
    const bare: number[] = [];
    const next: number[] = [];
    const first = { sort: [] as number[], search: [] as number[], filter: [] as number[] };
    for (let round = 0; round < rounds; round++) {
      bare.push(
        await timed(() =>
          parseAll(
            segments.map((segment) => ({
              ...segment,
              path: join(folder, 'results', segment.path),
            })),
          ),
        ),
      );
      for (const name of Object.keys(queries) as (keyof typeof queries)[]) {
        const explorer = createExplorer(context);
        first[name].push(await timed(() => explorer.list(job, queries[name])));
        if (name === 'sort')
          next.push(
            await timed(() => explorer.list(job, { ...queries.sort, after: placeToken(50) })),
          );
      }
    }
    return {
      records,
      bytes: segments.reduce((sum, { body }) => sum + body!.end - body!.start, 0),
      bareMs: median(bare),
      firstMs: {
        sort: median(first.sort),
        search: median(first.search),
        filter: median(first.filter),
      },
      nextMs: median(next),
    };
  } finally {
    await store.close();
    rmSync(folder, { recursive: true });
  }
}

async function fillJob(
  context: JobContext,
  count: number,
): Promise<{ job: Job; segments: Segment[] }> {
  const samples = sampleRecords();
  const job = aJob({
    region,
    totalUnits: count,
    totalBatches: Math.ceil(count / batchSize),
    state: 'completed',
    finishedAt: 1,
  });
  const batches: Batch[] = [];
  for (let seq = 0; seq < job.totalBatches; seq++) {
    const range = Array.from(
      { length: Math.min(batchSize, count - seq * batchSize) },
      (_, at) => at,
    );
    const sampleAt = (at: number) => samples[(seq * batchSize + at) % samples.length]!;
    const units = range.map((at) => ({
      key: `${seq * batchSize + at}`,
      input: sampleAt(at).input,
    }));
    const outcomes: Record<number, Outcome> = Object.fromEntries(
      range.map((at) => [at, aSuccess()]),
    );
    const batch = aBatch(job, seq, units, { outcomes, success: range.length, state: 'done' });
    const { segment } = await writeSegment(context, job, batch, (at) => sampleAt(at).record);
    batches.push({ ...batch, segments: [segment] });
  }
  await context.store.jobs.create(job, batches);
  return { job, segments: batches.flatMap(({ segments }) => segments) };
}

/** Reads files and parses the records in them, as any program would that has only the files. */
async function parseAll(segments: readonly Segment[]): Promise<void> {
  for (const { path, records } of segments) {
    const bytes = await readFile(path);
    for (const [offset, length] of Object.values(records))
      JSON.parse(bytes.toString('utf8', offset, offset + length));
  }
}

async function timed(call: () => Promise<unknown>): Promise<number> {
  const began = performance.now();
  await call();
  return performance.now() - began;
}
