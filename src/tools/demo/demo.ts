import { randomBytes } from 'node:crypto';
import { mkdirSync, openSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { MultiBar } from 'cli-progress';
import { createGleanerClient } from '../../../clients/typescript/index.ts';
import { AccountService } from '../../../gen/gleaner/account/v1/account_pb.ts';
import { OperatorService } from '../../../gen/gleaner/operator/v1/operator_pb.ts';
import { untilAborted } from '../../base/abort.ts';
import { isolatedEnvironment } from '../../base/config.ts';
import type { Environment } from '../../base/secret-files.ts';
import { shellWord } from '../../base/shell-word.ts';
import { startEngines, type Trial } from '../engines.ts';
import { type DemoJob, demoJobs } from './jobs.ts';
import { type DemoProcess, freePort, startOrigins, startRole, untilReady } from './processes.ts';
import { type DemoApi, type DemoProgress, type Result, runJob } from './run.ts';
import { runSchedule, type ScheduleResult, scheduledJob } from './schedule.ts';

export interface DemoOptions {
  /** True to use MongoDB and JetStream, with one api and two worker processes. */
  distributed: boolean;
  /** True if the service and the fake marketplaces keep running until the process is stopped. */
  keep: boolean;
  /** Marketplace to run the jobs of. Default: every marketplace. */
  market?: string;
  /** Folder in which the demo creates a folder for its data and results. */
  dataDir: string;
  io: Trial;
}

const credits = 100_000;
const plainEveryMs = 2_000;

/**
 * Starts the bundled fake marketplaces and a service, and runs a job of every kind through its REST
 * API: submits, approves, shows progress, downloads the results, and checks them. Returns the exit
 * code: 0 if every job ended and every file has the documented shape.
 */
export async function demo({
  distributed,
  keep,
  market,
  dataDir,
  io,
}: DemoOptions): Promise<number> {
  const { say } = io;
  const relativePath = (path: string) => relative(io.folder, path);
  const folder = join(dataDir, `demo-${new Date().toISOString().replaceAll(/[:.]/g, '-')}`);
  mkdirSync(join(folder, 'results'), { recursive: true });
  const running: DemoProcess[] = [];
  try {
    say('Starting the fake marketplaces and the service …');
    const origins = await startOrigins(io.env);
    running.push(origins);
    const { api, settings, operatorKey } = await startService(
      io.env,
      distributed,
      folder,
      origins.config,
      running,
    );
    const stack = distributed ? 'distributed stack, one api, two workers' : 'embedded stack';
    const logFile = relativePath(join(folder, 'service.log'));
    say(`Service: ${api.url} (${stack}), log: ${logFile}`);
    const began = Date.now();
    const jobs = demoJobs((name) => addressOf(origins.config, name)).filter(
      (job) => market === undefined || job.market === market,
    );
    if (jobs.length === 0) throw new Error(`No marketplace "${market}".`);
    const results = await runAll(jobs, api, io);
    const balance = await balanceOf(api);
    summarize(results, io, (Date.now() - began) / 1000, balance);
    const repeated = scheduledJob(jobs);
    const schedule = repeated && (await runSchedule(repeated, api, origins.config));
    if (schedule) sayRuns(schedule, io);
    if (keep) await keepRunning(io, api, operatorKey);
    else repeatByHand(say, { ...settings, GLEANER_OPERATOR_KEY: operatorKey });
    const isComplete = schedule === undefined || schedule.runs.every(({ success }) => success > 0);
    return isComplete &&
      results.every(({ misses, files }) => misses.length === 0 && files.length > 0)
      ? 0
      : 1;
  } finally {
    for (const process of running.reverse()) await process.stop();
  }
}

async function startService(
  variables: Environment,
  distributed: boolean,
  folder: string,
  origins: Record<string, unknown>,
  running: DemoProcess[],
) {
  const engines = distributed ? await startEngines(variables) : null;
  if (engines) running.push(engines);
  const originsFile = join(folder, 'origins.json');
  writeFileSync(originsFile, JSON.stringify(withHigherLimits(origins), null, 1));
  const httpPort = await freePort();
  const operatorKey = `demo-${randomBytes(16).toString('hex')}`;
  const settings = {
    GLEANER_ORIGINS: originsFile,
    GLEANER_DATA_DIR: join(folder, 'data'),
    // The pictures of fake marketplaces do not exist.
    GLEANER_IMAGES: 'off',
    GLEANER_WORKING_HOURS: 'off',
    GLEANER_RETRIEVE_CACHE: 'off',
    GLEANER_HTTP_PORT: String(httpPort),
    GLEANER_GRPC_PORT: String(await freePort()),
    GLEANER_OPS_PORT: 'off',
  };
  const environment = isolatedEnvironment(variables, {
    ...settings,
    GLEANER_OPERATOR_KEY: operatorKey,
    ...(engines && { MONGODB_URI: engines.mongoUri, NATS_URL: engines.natsUrl }),
  });
  const log = openSync(join(folder, 'service.log'), 'a');
  for (const role of distributed ? ['api', 'worker', 'worker'] : ['serve'])
    running.push(startRole(role, environment, log));
  const url = `http://127.0.0.1:${httpPort}`;
  await untilReady(url, 60);
  const api = await createUser(url, operatorKey, join(folder, 'results'));
  return { api, settings, operatorKey };
}

/** Prints how to sign in, and resolves when the process is stopped. */
async function keepRunning(
  { say, signal }: Trial,
  api: DemoApi,
  operatorKey: string,
): Promise<void> {
  say('');
  say('The service and the fake marketplaces keep running. Press Ctrl-C to stop them.');
  say(`  Console       ${api.url}/console`);
  say(`  User key      ${api.key}`);
  say(`  Operator key  ${operatorKey}`);
  say('Sign in with either key. In another terminal:');
  say(`  export GLEANER_URL=${api.url} GLEANER_API_KEY=${api.key}`);
  say('  npm run -s gleaner -- job list');
  await untilAborted(signal);
}

/** Raises the rate limits: fake marketplaces accept more requests than real ones. */
function withHigherLimits(origins: Record<string, unknown>): Record<string, unknown> {
  const limits = { concurrency: 16, requests_per_second: 400 };
  return Object.fromEntries(
    Object.entries(origins).map(([market, addresses]) => [
      market,
      {
        ...(typeof addresses === 'string' ? { '': addresses } : (addresses as object)),
        ...limits,
      },
    ]),
  );
}

/** Returns the address of a marketplace's first origin. */
function addressOf(origins: Record<string, unknown>, market: string): string {
  const addresses = origins[market];
  return typeof addresses === 'string'
    ? addresses
    : (Object.values(addresses ?? {}).find((value) => typeof value === 'string') ?? '');
}

async function createUser(url: string, operatorKey: string, folder: string): Promise<DemoApi> {
  const operator = createGleanerClient({ url, apiKey: operatorKey });
  const { method } = OperatorService;
  const { user } = await operator.call(method.createUser, { name: 'demo' });
  const { apiKey: key } = await operator.call(method.createApiKey, {
    userId: user!.id,
    name: 'demo',
  });
  await operator.call(method.grantCredits, {
    userId: user!.id,
    amount: BigInt(credits),
    note: 'demo',
  });
  const approve = async (jobId: string) => {
    await operator.call(method.approveJob, { jobId });
  };
  return { url, key, folder, approve };
}

async function balanceOf({ url, key }: DemoApi): Promise<number> {
  const user = createGleanerClient({ url, apiKey: key });
  return Number((await user.call(AccountService.method.getAccount, {})).account!.balance);
}

/**
 * Runs all jobs concurrently, with a progress bar for each, or without a terminal a line every 2
 * seconds.
 */
async function runAll(
  jobs: readonly DemoJob[],
  api: DemoApi,
  { say, stderr }: Trial,
): Promise<Result[]> {
  const width = Math.max(...jobs.map(({ title }) => title.length));
  const format = `{title} [{bar}] {value}/{total}, {failed} failed`;
  const bars = stderr.isTTY
    ? new MultiBar({
        format,
        stream: stderr,
        hideCursor: true,
        barCompleteChar: '█',
        barIncompleteChar: '·',
      })
    : null;
  const progress = new Map<DemoJob, DemoProgress>();
  const plain = setInterval(() => {
    if (bars) return;
    const sum = (part: keyof DemoProgress) =>
      [...progress.values()].reduce((total, each) => total + each[part], 0);
    say(`  ${sum('done')}/${sum('total')} units, ${sum('failed')} failed`);
  }, plainEveryMs);
  try {
    return await Promise.all(
      jobs.map((job) => {
        const bar = bars?.create(1, 0, { title: job.title.padEnd(width), failed: 0 });
        return runJob(job, api, (now) => {
          progress.set(job, now);
          bar?.setTotal(now.total);
          bar?.update(now.done, { failed: now.failed });
        });
      }),
    );
  } finally {
    clearInterval(plain);
    bars?.stop();
  }
}

function summarize(
  results: readonly Result[],
  { folder, say }: Trial,
  seconds: number,
  balance: number,
): void {
  say('');
  for (const { job, id, total, failed, cost, files, misses } of results) {
    const status = misses.length === 0 && files.length > 0 ? 'ok    ' : 'FAILED';
    const units = `${total} submitted, ${failed} failed`;
    say(`${status} ${job.title}: ${units}, ${cost} credits, job ${id}`);
    for (const { path, records, bytes, sha256 } of files) {
      const count = `${records} ${records === 1 ? 'record' : 'records'}`;
      const digest = `${sha256.slice(0, 16)}…`;
      say(`       ${relative(folder, path)}  ${count}, ${bytes} bytes, sha256 ${digest}`);
    }
    for (const miss of misses.slice(0, 5)) say(`       missing: ${miss}`);
  }
  const sum = (part: 'total' | 'failed' | 'cost') =>
    results.reduce((all, result) => all + result[part], 0);
  const spent = credits - balance;
  say('');
  say(
    `${results.length} jobs, ${sum('total')} units, ${sum('failed')} failed ` +
      `as intended (ids of missing and broken pages), in ${seconds.toFixed(1)} s`,
  );
  say(
    `${sum('cost')} credits charged, ${sum('cost') - spent} ` +
      `refunded for failed units, ${balance} of ${credits} left`,
  );
}

/** Prints the runs of the schedule. */
function sayRuns(
  { job, scheduleId, runs, changed, table, changes }: ScheduleResult,
  { folder, say }: Trial,
): void {
  say('');
  say(`Schedule of ${job.title}, every day at 08:00 in Singapore: ${scheduleId}`);
  for (const [at, { jobId, success, total }] of runs.entries()) {
    const condition = at === 0 ? '' : `, after ${changed} pages changed`;
    say(`  run ${at + 1}: ${success} of ${total} units, job ${jobId}${condition}`);
  }
  say(`  ${relative(folder, changes.path)}  ${changes.lines} changes since run 1`);
  say(`  ${relative(folder, table.path)}  records of run 2 as Parquet, ${table.bytes} bytes`);
}

/** Prints the commands that do the same by hand, on the same data. */
function repeatByHand(say: (line: string) => void, settings: Record<string, string>): void {
  const environment = Object.entries(settings).map(
    ([name, value]) => `${name}=${shellWord(value)}`,
  );
  say('');
  say(
    'To continue by hand, start the fake marketplaces and the service ' +
      'on the same data (or run the demo with --keep). Terminal 1:',
  );
  say(
    '  node_modules/.bin/node sandbox/main.ts --config-file ' +
      `${shellWord(settings.GLEANER_ORIGINS ?? '')}`,
  );
  say('Terminal 2:');
  say(`  ${environment.join(' ')} npm start`);
  say('Terminal 3:');
  const gleaner = 'npm run -s gleaner --';
  for (const line of [
    `export GLEANER_URL=http://127.0.0.1:${settings.GLEANER_HTTP_PORT} ` +
      `GLEANER_OPERATOR_KEY=${settings.GLEANER_OPERATOR_KEY}`,
    `USER_ID=$(${gleaner} user create me)`,
    `export GLEANER_API_KEY=$(${gleaner} key create --user "$USER_ID")`,
    `${gleaner} user credit "$USER_ID" 1000`,
    `JOB=$(printf 'item_id,shop_id\\n20000000001,7001\\n' | ` +
      `${gleaner} job submit mkta variant_sold - --set country=id)`,
    `${gleaner} job approve "$JOB"`,
    `${gleaner} job wait "$JOB"`,
    `${gleaner} job results "$JOB"`,
  ])
    say(`  ${line}`);
}
