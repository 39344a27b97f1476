import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import {
  type Contender,
  contenders,
  type PreparedContender,
  type Task,
} from './peers/contenders.ts';
import { drawPeers, type Figures } from './peers/picture.ts';
import type { Collected, RunningContender } from './peers/program.ts';
import { timed } from './pipeline.ts';
import { benchPages } from './support/pages.ts';
import { type BenchProgram, startBenchProgram } from './support/program.ts';
import { memory } from './support/usage.ts';

/** Figures of a tool: of all its processes with Redis, but without MongoDB. */
interface PeerResult extends Figures, Pick<Contender, 'state' | 'progress'> {
  version: string;
  killed: AfterKill;
}

/** Result of a run that was killed halfway and then continued. */
interface AfterKill extends Collected {
  pages: number;
  /** Requests of both runs. */
  requests: number;
  /** False if the second run did not end in time. */
  ended: boolean;
}

/** Maximum concurrent requests of each tool. */
const concurrency = 32;

/** Pages of the run that is killed, and the time of the run that continues it, in milliseconds. */
const killedPages = 2_000;
const maxContinueMs = 300_000;

const sampleMs = 250;

/**
 * Collects the same pages of one fake shop with each tool, one after the other, then kills and
 * continues it with fewer pages. A tool that cannot be prepared is reported to `say` and left out.
 */
export async function measurePeers(
  pages: number,
  say: (line: string) => void,
): Promise<PeerResult[]> {
  const folder = mkdtempSync(join(tmpdir(), 'gleaner-peers-'));
  const origin = await startBenchProgram<number>('origin.ts', String(Math.max(pages, killedPages)));
  const results: PeerResult[] = [];
  try {
    const task = createTask(folder, `http://127.0.0.1:${origin.firstMessage}`, pages);
    const killedTask = createTask(folder, task.origin, killedPages);
    for (const contender of contenders) {
      const peerFolder = mkdtempSync(join(folder, 'peer-'));
      const prepared = await contender.prepare(peerFolder).catch((error: Error) => error);
      if (prepared instanceof Error) {
        say(`${contender.name}: not measured: ${prepared.message}`);
        continue;
      }
      try {
        const run = await measureRun(prepared, task, newFolder(peerFolder));
        const killed = await measureKill(prepared, killedTask, origin, newFolder(peerFolder));
        const { name, state, progress } = contender;
        results.push({ name, state, progress, version: prepared.version, ...run, killed });
      } finally {
        await prepared.stop();
      }
    }
  } finally {
    await origin.stop();
    rmSync(folder, { recursive: true, force: true });
  }
  return results;
}

const newFolder = (parent: string) => mkdtempSync(join(parent, 'run-'));

function createTask(folder: string, origin: string, count: number): Task {
  const pages = benchPages(count);
  const pathsFile = join(folder, `paths-${count}.txt`);
  const lines = pages.map(
    ({ item_id, shop_id }) => `/api/v4/pdp/get_pc?item_id=${item_id}&shop_id=${shop_id}\n`,
  );
  writeFileSync(pathsFile, lines.join(''));
  return { origin, pages, pathsFile, concurrency };
}

/**
 * Measures a run from the submission of the pages to the last record, of a process that has loaded
 * its code.
 */
async function measureRun(prepared: PreparedContender, task: Task, folder: string) {
  const running = await prepared.start(task, folder);
  const pids = [...running.pids, ...prepared.enginePids];
  let peakBytes = 0;
  const sample = () => {
    try {
      const bytes = pids.reduce((sum, pid) => sum + memory(pid).proportional, 0);
      peakBytes = Math.max(peakBytes, bytes);
    } catch {
      // A process ended while it was measured.
    }
  };
  sample();
  const sampling = setInterval(sample, sampleMs);
  try {
    const { itemsPerSecond, processorUs } = await timed(task.pages.length, pids, () =>
      running.run(),
    );
    sample();
    const { records, distinct } = await running.results();
    if (records !== task.pages.length || distinct !== records)
      throw new Error(`${records} records of ${distinct} of ${task.pages.length} pages`);
    return { pagesPerSecond: itemsPerSecond, processorUs, peakBytes };
  } finally {
    clearInterval(sampling);
    await running.stop();
  }
}

/** Kills a run once the shop has served half of the pages, and continues it in the same folder. */
async function measureKill(
  prepared: PreparedContender,
  task: Task,
  origin: BenchProgram,
  folder: string,
): Promise<AfterKill> {
  const before = await origin.ask<number>('requests');
  const first = await prepared.start(task, folder);
  first.run().catch(() => {});
  while ((await origin.ask<number>('requests')) - before < task.pages.length / 2)
    await new Promise((resolve) => setTimeout(resolve, 5));
  await first.kill();
  let running: RunningContender = await prepared.start(task, folder);
  const ended = await Promise.race([
    running.run().then(
      () => true,
      () => false,
    ),
    new Promise<false>((resolve) => setTimeout(resolve, maxContinueMs, false).unref()),
  ]);
  const requests = (await origin.ask<number>('requests')) - before;
  if (!ended) {
    await running.kill();
    running = await prepared.start(task, folder);
  }
  const collected = await running.results();
  await running.stop();
  return { pages: task.pages.length, ...collected, requests, ended };
}

/** Returns the figures and the guarantees of the tools as lines of a Markdown table. */
export function describePeers(results: readonly PeerResult[], pages: number): string[] {
  const count = (value: number) => Math.round(value).toLocaleString('en-US');
  const rows = results.map(
    ({ name, version, pagesPerSecond, processorUs, peakBytes, state, progress, killed }) => [
      `${name} ${version}`,
      `${count(pagesPerSecond)}/s`,
      `${count(processorUs)} µs`,
      `${count(peakBytes / 1024 ** 2)} MB`,
      state,
      progress,
      describeKill(killed, count),
    ],
  );
  const head = [
    `${count(pages)} pages`,
    'rate',
    'processor time per page',
    'peak memory',
    'state',
    'progress',
    'killed halfway, then continued',
  ];
  return [head, head.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |`);
}

function describeKill(
  { pages, records, distinct, requests, ended }: AfterKill,
  count: (value: number) => string,
): string {
  const found = `${count(distinct)} of ${count(pages)} pages, ${count(records - distinct)} of them twice`;
  const again = `${count(Math.max(0, requests - distinct))} requests more than pages`;
  return `${found}, ${again}${ended ? '' : `, not ended after ${maxContinueMs / 60_000} minutes`}`;
}

/** Writes the picture of docs/performance.md and returns its path. */
export function writePicture(results: readonly PeerResult[], pages: number): string {
  const path = fileURLToPath(new URL('../docs/peers.svg', import.meta.url));
  const title = `${pages.toLocaleString('en-US')} pages of 8 KB from one shop, ${concurrency} requests at once`;
  writeFileSync(path, drawPeers(results, title));
  return path;
}
