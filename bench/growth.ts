import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout } from 'node:timers/promises';
import { endOfJob, startJob } from './support/jobs.ts';
import { type BenchPage, benchPages, region } from './support/pages.ts';
import { startBenchProgram } from './support/program.ts';
import type { RestClient } from './support/rest.ts';
import { type BenchService, startService } from './support/service.ts';
import { processorMs } from './support/usage.ts';

/** CPU time per item of the jobs, in microseconds. */
export interface GrowthResult {
  /** Of the first and of the last of the consecutive jobs. */
  first: number;
  last: number;
  /** Of another job beside the schedules. */
  beside: number;
  /** Of jobs of as many users at once. */
  users: number;
  /** Of another job beside the stored items. */
  crowded: number;
  /** CPU time per second of the service with the schedules while no job runs, in milliseconds. */
  idleMs: number;
}

/** Sizes of the growth. */
export interface GrowthSizes {
  /** Consecutive jobs. */
  jobs: number;
  /** Items of each of them, and of the jobs of all users together. */
  items: number;
  /** Schedules whose time has not come. */
  schedules: number;
  users: number;
  /** Items of ended jobs in the store of the last job. */
  stored: number;
}

const distinct = 4_000;
const warmUpItems = 4_000;
/** Schedules of an account, and those that are created at the same time. */
const schedulesOfUser = 100;
const idleSeconds = 10;
/** Interval at which each user asks for the job, so that 200 of them do not measure these calls. */
const pollMs = 1_000;

/**
 * Runs variant-sold jobs one after the other on one embedded store, which keeps every unit and
 * outcome; then one beside schedules, and one of each user at once; then one beside copies of the
 * first job. Removes result files after each job, so that the disk does not fill up.
 */
export async function measureGrowth(
  { jobs, items, schedules, users, stored }: GrowthSizes,
  report: (job: number, processorUs: number) => void,
): Promise<GrowthResult> {
  const origin = await startBenchProgram<number>('origin.ts', String(distinct));
  const folder = mkdtempSync(join(tmpdir(), 'gleaner-growth-'));
  const address = `http://127.0.0.1:${origin.firstMessage}`;
  const origins = { mkta: { [region]: address, concurrency: 32, requests_per_second: 10_000 } };
  let service = await startService({ folder, origins });
  try {
    await run(service, warmUpItems);
    const costs: number[] = [];
    let firstJob = '';
    for (let job = 1; job <= jobs; job++) {
      const { processorUs, jobIds } = await run(service, items);
      firstJob ||= jobIds[0]!;
      costs.push(processorUs);
      report(job, processorUs);
    }
    await addSchedules(service, schedules, pages[0]!);
    const idleBefore = processorMs(service.pid);
    await setTimeout(idleSeconds * 1000);
    const idleMs = (processorMs(service.pid) - idleBefore) / idleSeconds;
    const { processorUs: beside } = await run(service, items);
    const clients: RestClient[] = [];
    while (clients.length < users) clients.push(await service.addUser());
    const { processorUs: ofUsers } = await run(service, items, clients);
    await service.stop();
    copyJob(join(service.dataDir, 'gleaner.db'), firstJob, Math.ceil(stored / items));
    service = await startService({ folder, origins });
    await run(service, warmUpItems);
    const { processorUs: crowded } = await run(service, items);
    return { first: costs[0]!, last: costs.at(-1)!, beside, idleMs, users: ofUsers, crowded };
  } finally {
    await service.stop();
    await origin.stop();
    rmSync(folder, { recursive: true, force: true });
  }
}

const pages = benchPages(distinct);

/** Runs a job of each client at once, which have `count` items together. */
async function run(service: BenchService, count: number, clients = [service.rest]) {
  const each = Math.ceil(count / clients.length);
  const before = processorMs(service.pid);
  const runOne = async (client: RestClient) => {
    const jobId = await startJob(service, client, pages, each);
    await endOfJob(client, jobId, pollMs);
    return jobId;
  };
  const jobIds = await Promise.all(clients.map(runOne));
  const used = processorMs(service.pid) - before;
  for (const jobId of jobIds) rmSync(join(service.dataDir, 'results', jobId), { recursive: true });
  return { processorUs: (used / (each * clients.length)) * 1000, jobIds };
}

/** Copies an ended job with its batches and units in the data file of a stopped service. */
function copyJob(file: string, jobId: string, copies: number): void {
  const database = new DatabaseSync(file);
  const places = {
    jobs: 'id = ?',
    batches: 'job_id = ?',
    batch_units: 'batch_id IN (SELECT id FROM batches WHERE job_id = ?)',
    unit_keys: 'job_id = ?',
  };
  for (let copy = 1; copy <= copies; copy++) {
    const prefix = copy.toString(16).padStart(8, '0');
    const expressionOf = (column: string) => {
      if (/^(id|job_id|batch_id)$/.test(column)) return `'${prefix}' || substr(${column}, 9)`;
      return column === 'number' ? `number + ${copy * 1_000}` : column;
    };
    database.exec('BEGIN');
    for (const [table, where] of Object.entries(places)) {
      const columns = database
        .prepare(`SELECT name FROM pragma_table_info('${table}')`)
        .all()
        .map(({ name }) => String(name));
      const values = columns.map(expressionOf).join(', ');
      database
        .prepare(
          `INSERT INTO ${table} (${columns.join(', ')}) SELECT ${values} FROM ${table} WHERE ${where}`,
        )
        .run(jobId);
    }
    database.exec('COMMIT');
  }
  database.close();
}

/** Creates schedules that start in a year, 100 per user. */
async function addSchedules(service: BenchService, count: number, page: BenchPage): Promise<void> {
  const { item_id, shop_id } = page;
  const schedule = {
    name: 'bench',
    market: 'mkta',
    kind: 'variant_sold',
    cron: '0 8 * * *',
    time_zone: 'UTC',
    start_at: new Date(Date.now() + 365 * 24 * 3_600_000).toISOString(),
    request: { country: region, items: [{ item_id, shop_id }] },
  };
  for (let left = count; left > 0; left -= schedulesOfUser) {
    const client = await service.addUser();
    const creations = Array.from({ length: Math.min(left, schedulesOfUser) }, () =>
      client.call('POST', '/v1/schedules', schedule),
    );
    await Promise.all(creations);
  }
}
