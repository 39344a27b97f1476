import { createWriteStream } from 'node:fs';
import { mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { finished } from 'node:stream/promises';
import { compose, type Program } from '../src/app/compose.ts';
import { loadConfig } from '../src/base/config.ts';
import { createHttpFetcher } from '../src/fetch/http.ts';
import type { FetchPage } from '../src/fetch/page.ts';
import type { JobContext } from '../src/jobs/context.ts';
import { writeSegment } from '../src/jobs/records.ts';
import type { RecordReader } from '../src/markets/market.ts';
import { productRequest, variants } from '../src/markets/mkta/product.ts';
import type { Unit } from '../src/store/batches.ts';
import { aBatch, aJob } from '../src/store/conformance/samples.ts';
import { benchPages, region } from './support/pages.ts';

// The bare loop with the service's own code for a growing part of the work:
// `step-loop.ts <step> <items> <concurrency> <folder> <origins file>`.

/** Last part of the work that a loop does as the service does. */
export type Step = 'fetcher' | 'policy' | 'record' | 'segments';

const [step, itemCount, concurrency, folder, originsFile] = process.argv.slice(2) as [
  Step,
  string,
  string,
  string,
  string,
];
const market = 'mkta';
const batchSize = 50;
const signal = new AbortController().signal;
const units: Unit[] = benchPages(Number(itemCount)).map(({ item_id, shop_id }) => ({
  key: item_id,
  input: { item_id, shop_id },
}));
const reader = variants as RecordReader;
const program: Program = await compose(
  loadConfig({ GLEANER_DATA_DIR: join(folder, 'data'), GLEANER_ORIGINS: originsFile }),
  'bench',
  () => 'http://127.0.0.1',
  { readsPages: true },
);
const { context, clock, log, config } = program;
const fetcher = createHttpFetcher({
  origins: config.origins,
  clock,
  log,
  userAgent: config.userAgent,
});

/** Calls `visit` with a function that fetches pages as the step does. */
async function withFetch<T>(visit: (fetch: FetchPage) => Promise<T>): Promise<T> {
  if (step === 'fetcher') return visit(fetcher.for(market, region, signal));
  const owner = { userId: job.userId, jobId: job.id };
  const session = context.pages.openSession(market, region, signal, {
    urgent: false,
    owner,
    mode: job.mode,
  });
  const result = await visit(session.fetch);
  await session.end(null);
  return result;
}

const aNewJob = () => aJob({ totalUnits: units.length, totalBatches: units.length / batchSize });
let job = aNewJob();

/** Fetches a page and returns its text, or the text of its record. */
const read = ({ input }: Unit): Promise<Buffer> =>
  withFetch(async (fetch) => {
    if (step === 'record' || step === 'segments') {
      return Buffer.from(JSON.stringify(await reader.read(input, { region, fetch })));
    }
    const { status, body } = await fetch(productRequest(input, region));
    const page = JSON.parse(body.toString()) as object;
    if (status !== 200 || !('data' in page)) throw new Error(`the origin answered ${status}`);
    return body;
  });

/** Reads all units and writes the texts to one file. */
async function writeOneFile(): Promise<void> {
  const output = createWriteStream(join(folder, step));
  const remaining = units.values();
  const loop = async () => {
    for (const unit of remaining) {
      const text = await read(unit);
      await new Promise((written) => output.write(text, written));
    }
  };
  await Promise.all(Array.from({ length: Number(concurrency) }, loop));
  output.end();
  await finished(output);
}

/** Reads the units in batches and writes a segment per batch. */
async function writeSegments(context: JobContext): Promise<void> {
  job = aNewJob();
  const batches = Array.from({ length: Math.ceil(units.length / batchSize) }, (_, seq) =>
    aBatch(job, seq, units.slice(seq * batchSize, (seq + 1) * batchSize), { attempt: 1 }),
  );
  const remaining = batches.values();
  const loop = async () => {
    for (const batch of remaining) {
      const records = new Map<number, Uint8Array>();
      await Promise.all(
        batch.units.map(async (unit, index) => records.set(index, await read(unit))),
      );
      batch.outcomes = Object.fromEntries(
        batch.units.map((_, index) => [index, { status: 'SUCCESS', attempt: 1, readAt: 0 }]),
      );
      await writeSegment(context, job, batch, (index) => records.get(index));
    }
  };
  await Promise.all(Array.from({ length: 4 }, loop));
}

await mkdir(folder, { recursive: true });
process.on('message', async () => {
  await (step === 'segments' ? writeSegments(context) : writeOneFile());
  process.send!('done');
});
process.once('disconnect', async () => {
  await program.close();
  await rm(folder, { recursive: true, force: true });
  process.exit(0);
});
process.send!('ready');
