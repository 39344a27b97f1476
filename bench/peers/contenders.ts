import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { findProgram } from '../../test/engines/missing.ts';
import { startProgram } from '../../test/engines/program.ts';
import { freePort } from '../../test/support/servers/ports.ts';
import { startBenchEngines } from '../support/engines.ts';
import { endOfJob, startJob } from '../support/jobs.ts';
import { type BenchPage, region } from '../support/pages.ts';
import { restClient } from '../support/rest.ts';
import { startService } from '../support/service.ts';
import { installPackages, installScrapy, packageVersion, python } from './install.ts';
import { killFamily, type RunningContender, startPeer } from './program.ts';

/** Pages of a shop to collect. */
export interface Task {
  origin: string;
  pages: readonly BenchPage[];
  /** File with the path of each page. */
  pathsFile: string;
  concurrency: number;
}

/** A tool that collects pages. */
export interface Contender {
  name: string;
  /** Where its state is, as it is set up here. */
  state: string;
  /** Progress as the program reports it. */
  progress: string;
  /** Installs it and starts its engines. Throws an Error that names what is missing. */
  prepare(folder: string): Promise<PreparedContender>;
}

/** A tool that is installed, with its engines. */
export interface PreparedContender {
  version: string;
  /** Processes of its engines. */
  enginePids: readonly number[];
  /** Starts it; in a folder that was used before, it continues. */
  start(task: Task, folder: string): Promise<RunningContender>;
  /** Stops the engines. */
  stop(): Promise<void>;
}

const withoutEngines = { enginePids: [], stop: async () => {} };

/** The environment of a program that obeys the commands of peer.mjs. */
const environmentOf = ({ origin, pathsFile, concurrency }: Task) => ({
  PEER_ORIGIN: origin,
  PEER_PATHS: pathsFile,
  PEER_CONCURRENCY: `${concurrency}`,
});

/** All contenders, in the order of their runs. */
export const contenders: readonly Contender[] = [
  {
    name: 'Gleaner',
    state: 'SQLite and result files, written before a batch counts',
    progress: 'exact at any time: succeeded + failed + open = total',
    prepare: async () => ({ ...withoutEngines, version: 'this checkout', start: startGleanerJob }),
  },
  {
    name: 'BullMQ + undici + MongoDB',
    state: 'Redis with an append-only file, flushed each second; MongoDB',
    progress: 'jobs by state in Redis; results in MongoDB apart from it',
    prepare: prepareBullmq,
  },
  {
    name: 'Crawlee',
    state: 'a file for each request and record, not flushed',
    progress: 'statistics of the run, not exact after a kill',
    prepare: async () => {
      installPackages();
      return {
        ...withoutEngines,
        version: packageVersion('@crawlee/http'),
        start: (task, folder) => {
          const environment = { ...environmentOf(task), CRAWLEE_STORAGE_DIR: folder };
          return startPeer(process.execPath, 'crawlee.mjs', environment, folder);
        },
      };
    },
  },
  {
    name: 'Scrapy',
    state: 'a job folder, complete after an orderly stop only; a feed file',
    progress: 'statistics of the process since its start',
    prepare: async () => {
      installScrapy();
      const version = /^Scrapy==(.+)$/m.exec(
        readFileSync(join(import.meta.dirname, 'requirements.txt'), 'utf8'),
      )![1]!;
      return {
        ...withoutEngines,
        version,
        start: (task, folder) => startPeer(python, 'scrapy_pages.py', environmentOf(task), folder),
      };
    },
  },
];

async function prepareBullmq(folder: string): Promise<PreparedContender> {
  const program = findProgram('redis-server');
  if (program === null)
    throw new Error(
      'BullMQ needs Redis, and there is no redis-server on PATH: apt-get install redis-server',
    );
  installPackages();
  const mongo = await startBenchEngines();
  const started: Awaited<ReturnType<typeof startProgram>>[] = [];
  return {
    version: packageVersion('bullmq'),
    get enginePids() {
      return started.slice(-1).map(({ pid }) => pid);
    },
    async start(task, runFolder) {
      const settings = join(runFolder, 'engines.json');
      if (!existsSync(settings)) {
        const port = await freePort();
        const redisFolder = join(folder, `redis-${port}`);
        mkdirSync(redisFolder);
        const options = { port, bind: '127.0.0.1', dir: redisFolder, appendonly: 'yes', save: '' };
        const parameters = Object.entries(options).flatMap(([name, value]) => [
          `--${name}`,
          `${value}`,
        ]);
        started.push(
          await startProgram(program, parameters, (line) =>
            line.includes('Ready to accept') ? true : null,
          ),
        );
        const mongoUri = new URL(mongo.mongoUri);
        mongoUri.pathname = `/peers_${port}`;
        writeFileSync(
          settings,
          JSON.stringify({ PEER_REDIS_PORT: `${port}`, PEER_MONGO_URI: mongoUri.href }),
        );
      }
      const engines = JSON.parse(readFileSync(settings, 'utf8')) as Record<string, string>;
      return startPeer(
        process.execPath,
        'bullmq.mjs',
        { ...environmentOf(task), ...engines },
        runFolder,
      );
    },
    async stop() {
      for (const { stop } of started) await stop();
      await mongo.stop();
    },
  };
}

/**
 * A job whose id and owner's key are in the folder, so that a service that starts there continues
 * it.
 */
async function startGleanerJob(task: Task, folder: string): Promise<RunningContender> {
  const file = join(folder, 'job.json');
  const { origin, concurrency, pages } = task;
  const service = await startService({
    folder,
    origins: { mkta: { [region]: origin, concurrency, requests_per_second: 10_000 } },
  });
  const job = () => {
    const { key, id } = JSON.parse(readFileSync(file, 'utf8')) as { key: string; id: string };
    return { id, rest: restClient(service.url, key) };
  };
  return {
    pids: [service.pid],
    async run() {
      if (!existsSync(file)) {
        const id = await startJob(service, service.rest, pages, pages.length);
        writeFileSync(file, JSON.stringify({ key: service.apiKey, id }));
      }
      const { id, rest } = job();
      await endOfJob(rest, id);
    },
    async results() {
      const { id, rest } = job();
      const { download_url: url } = await rest.call(
        'GET',
        `/v1/mkta/variant_sold_v1/download/${id}`,
      );
      const records = (await (await fetch(`${url}`)).json()) as { itemId: unknown }[];
      return {
        records: records.length,
        distinct: new Set(records.map(({ itemId }) => itemId)).size,
      };
    },
    kill: async () => {
      killFamily(service.pid);
    },
    stop: service.stop,
  };
}
