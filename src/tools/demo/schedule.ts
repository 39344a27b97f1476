import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createGleanerClient, type GleanerClient } from '../../../clients/typescript/index.ts';
import { type Job, JobService } from '../../../gen/gleaner/job/v1/job_pb.ts';
import { ScheduleService } from '../../../gen/gleaner/schedule/v1/schedule_pb.ts';
import type { DemoJob } from './jobs.ts';
import type { DemoApi } from './run.ts';

interface SavedFile {
  path: string;
  bytes: number;
  lines: number;
}

/** Two runs of a schedule. */
export interface ScheduleResult {
  job: DemoJob;
  scheduleId: string;
  runs: Job[];
  /** Items that changed between the runs. */
  changed: number;
  /** File with the records of the second run. */
  table: SavedFile;
  /** File with the differences between the runs. */
  changes: SavedFile;
}

/** Changes an item of a fake marketplace (sandbox/README.md). */
type ChangeItem = (region: string, id: string, change: object) => Promise<void>;

const { method } = ScheduleService;
const waitMs = 30_000;
const pollMs = 250;

/** Returns the job that the demo repeats: the last one with a page per unit and a JSON body. */
export function scheduledJob(jobs: readonly DemoJob[]): DemoJob | undefined {
  return jobs.findLast(
    ({ jobType, csv, needsApproval, files }) =>
      jobType.kind.page === 'product' && files === 'job' && csv === undefined && !needsApproval,
  );
}

/**
 * Creates a schedule of a job and starts two runs, between which items become cheaper or sold out.
 * Saves the differences, and the records of the second run as a Parquet file.
 */
export async function runSchedule(
  job: DemoJob,
  api: DemoApi,
  origins: Record<string, unknown>,
): Promise<ScheduleResult> {
  const client = createGleanerClient({ url: api.url, apiKey: api.key });
  const { scheduleId } = await client.call(method.createSchedule, {
    name: `${job.title}, every morning`,
    market: job.market,
    kind: job.kind,
    request: JSON.stringify(job.body),
    cron: '0 8 * * *',
    timeZone: 'Asia/Singapore',
    options: { track: 'true' },
  });
  const first = await runOnce(client, scheduleId);
  const changed = await changeItems(client, first, itemChanger(job.market, origins));
  const second = await runOnce(client, scheduleId);
  const stem = join(api.folder, `schedule-${second.jobId.slice(0, 8)}`);
  const jobPath = `/v1/jobs/${second.jobId}`;
  const table = await save(api, `${jobPath}/results?format=parquet`, `${stem}.parquet`);
  const changes = await save(
    api,
    `${jobPath}/changes/download?format=jsonl`,
    `${stem}-changes.jsonl`,
  );
  return {
    job,
    scheduleId,
    runs: [first, second],
    changed,
    table,
    changes,
  };
}

/** Starts a run and waits for the end of its job. */
async function runOnce(client: GleanerClient, scheduleId: string): Promise<Job> {
  const { jobId, reason } = await client.call(method.runSchedule, { scheduleId });
  if (jobId === '') throw new Error(`The run did not start: ${reason}`);
  return client.wait(jobId, { signal: AbortSignal.timeout(waitMs) });
}

/**
 * Lowers the price of every other item that was read, and sells one of them out. Returns their
 * number.
 */
async function changeItems(
  client: GleanerClient,
  { jobId }: Job,
  change: ChangeItem,
): Promise<number> {
  const { units } = await client.call(JobService.method.listUnits, { jobId, pageSize: 100 });
  const chosen = units
    .filter(({ status }) => status === 'SUCCESS')
    .filter((_unit, at) => at % 2 === 0);
  for (const [at, { region, key }] of chosen.entries())
    await change(region, key, at === 0 ? { priceFactor: 0.9, stock: 0 } : { priceFactor: 0.9 });
  return chosen.length;
}

function itemChanger(market: string, origins: Record<string, unknown>): ChangeItem {
  const addresses = origins[market] as Record<string, string>;
  return async (region, id, change) => {
    // The last part of an address is the id of its item.
    const url = `${addresses[region]}/.sandbox/items/${id.slice(id.lastIndexOf('/') + 1)}`;
    const response = await fetch(url, { method: 'PUT', body: JSON.stringify(change) });
    if (!response.ok) throw new Error(`${url}: ${response.status}`);
  };
}

/** Saves a file, once the service has it: the changes of a job are compared after its end. */
async function save({ url, key }: DemoApi, address: string, path: string): Promise<SavedFile> {
  const until = Date.now() + waitMs;
  for (;;) {
    const response = await fetch(url + address, { headers: { authorization: `Bearer ${key}` } });
    if (response.ok) {
      const bytes = Buffer.from(await response.arrayBuffer());
      await writeFile(path, bytes);
      return { path, bytes: bytes.length, lines: bytes.toString('latin1').split('\n').length - 1 };
    }
    const text = await response.text();
    if (response.status !== 409 || Date.now() > until)
      throw new Error(`${address}: ${response.status} ${text}`);
    await new Promise((resolve) => setTimeout(resolve, pollMs));
  }
}
