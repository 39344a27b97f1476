import { spawn } from 'node:child_process';
import { openSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { family } from '../support/usage.ts';
import { peersFolder } from './install.ts';

/** Records that a contender has collected. */
export interface Collected {
  records: number;
  distinct: number;
}

/** A contender with the same pages. */
export interface RunningContender {
  /** Processes whose time and memory are measured, with their descendants. */
  pids: readonly number[];
  /** Collects all pages that its folder does not have yet. */
  run(): Promise<void>;
  results(): Promise<Collected>;
  /** Kills its processes with SIGKILL, except the engines. */
  kill(): Promise<void>;
  stop(): Promise<void>;
}

/**
 * Starts a program of this folder, which obeys the commands of peer.mjs. Its standard error is
 * `<folder>/log.txt`.
 */
export async function startPeer(
  command: string,
  program: string,
  environment: Record<string, string>,
  folder: string,
): Promise<RunningContender> {
  const log = join(folder, 'log.txt');
  const child = spawn(command, [join(peersFolder, program)], {
    stdio: ['pipe', 'pipe', openSync(log, 'a')],
    env: { ...process.env, ...environment, PEER_FOLDER: folder },
  });
  const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  const lines = createInterface({ input: child.stdout! })[Symbol.asyncIterator]();
  const next = async () => {
    const { value, done } = await lines.next();
    if (done) throw new Error(`${program} ended:\n${readFileSync(log, 'utf8').slice(-2_000)}`);
    return value;
  };
  const ask = (line: string) => {
    child.stdin!.write(`${line}\n`);
    return next();
  };
  await next();
  return {
    pids: [child.pid!],
    run: async () => void (await ask('run')),
    results: async () => JSON.parse(await ask('results')) as Collected,
    kill: async () => {
      killFamily(child.pid!);
      await ended;
    },
    stop: async () => {
      child.stdin!.end();
      await ended;
    },
  };
}

/** Kills a process and its descendants with SIGKILL. */
export function killFamily(pid: number): void {
  for (const member of family(pid)) process.kill(member, 'SIGKILL');
}
