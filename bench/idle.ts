import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, mkdirSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { freePort } from '../src/tools/demo/processes.ts';
import { median } from './support/rounds.ts';
import { memory } from './support/usage.ts';

/** Cost of the idle service, installed from the package. */
export interface IdleResult {
  /**
   * Milliseconds from the start of the process to the first 200 of /health: of the first start
   * after installation, and the median.
   */
  firstStartMs: number;
  startMs: number;
  /** Resident memory in bytes of the serving process, and of all processes. */
  ownBytes: number;
  allBytes: number;
  /** Resident memory of a bare Node process, in bytes. */
  bareBytes: number;
}

/** Time for the process to become idle after its start, in milliseconds. */
const settleMs = 5_000;
const pollMs = 5;

const project = fileURLToPath(new URL('..', import.meta.url));
const wait = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

/** Builds the package, installs it into a temporary folder, and starts it `rounds` times. */
export async function measureIdle(rounds: number): Promise<IdleResult> {
  const folder = mkdtempSync(join(tmpdir(), 'gleaner-idle-'));
  try {
    const launcher = install(folder);
    const starts: Awaited<ReturnType<typeof measureStart>>[] = [];
    for (let round = 0; round <= rounds; round++) starts.push(await measureStart(launcher, folder));
    const [first, ...laterStarts] = starts;
    const middle = (name: 'startMs' | 'ownBytes' | 'allBytes') =>
      median(laterStarts.map((one) => one[name]));
    return {
      firstStartMs: first!.startMs,
      startMs: middle('startMs'),
      ownBytes: middle('ownBytes'),
      allBytes: middle('allBytes'),
      bareBytes: await measureBare(),
    };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/**
 * Installs the package into the folder without its client-only dependencies. Returns the path of
 * its launcher.
 */
function install(folder: string): string {
  execFileSync(process.execPath, ['deploy/build.mjs'], { cwd: project });
  const installed = join(folder, 'gleaner');
  mkdirSync(installed);
  for (const part of ['dist', 'console/dist', 'package.json'])
    cpSync(join(project, part), join(installed, part), { recursive: true });
  symlinkSync(join(project, 'node_modules'), join(folder, 'node_modules'));
  return join(installed, 'dist', 'main.js');
}

async function measureStart(launcher: string, folder: string) {
  const port = await freePort();
  const started = performance.now();
  const service = spawn(process.execPath, [launcher, 'serve'], {
    stdio: ['ignore', 'ignore', 'inherit'],
    env: {
      PATH: process.env.PATH,
      HOME: folder,
      GLEANER_HTTP_PORT: String(port),
      GLEANER_GRPC_PORT: '0',
      GLEANER_OPS_PORT: '0',
      GLEANER_DATA_DIR: join(folder, 'data'),
      GLEANER_LOG_LEVEL: 'warn',
    },
  });
  try {
    await healthy(service, port);
    const startMs = performance.now() - started;
    await wait(settleMs);
    const { own, now } = memory(service.pid!);
    return { startMs, ownBytes: own.now, allBytes: now };
  } finally {
    await end(service);
  }
}

async function healthy(service: ChildProcess, port: number): Promise<void> {
  while (service.exitCode === null) {
    const response = await fetch(`http://127.0.0.1:${port}/health`).catch(() => null);
    if (response?.status === 200) return;
    await wait(pollMs);
  }
  throw new Error(`the service ended with code ${service.exitCode}`);
}

async function measureBare(): Promise<number> {
  const bare = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)'], { stdio: 'ignore' });
  try {
    await wait(1_000);
    return memory(bare.pid!).now;
  } finally {
    await end(bare);
  }
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const gone = once(child, 'exit');
  child.kill('SIGTERM');
  await gone;
}
