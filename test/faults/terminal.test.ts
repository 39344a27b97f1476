import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync } from 'node:fs';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { findProgram } from '../engines/missing.ts';
import { freePort } from '../support/servers/ports.ts';
import { createApi } from '../support/service/api.ts';
import { main, root } from '../support/service/service.ts';
import { until } from '../support/time/until.ts';

const operatorKey = 'operator-of-a-terminal-test';

let folder: string;
let url: string;
let environment: Record<string, string>;
let pids: number[];
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'gleaner-terminal-'));
  const port = await freePort();
  url = `http://127.0.0.1:${port}`;
  environment = {
    PATH: process.env.PATH ?? '',
    HOME: folder,
    GLEANER_DOTENV: 'off',
    GLEANER_DATA_DIR: join(folder, 'data'),
    GLEANER_HOST: '127.0.0.1',
    GLEANER_HTTP_PORT: String(port),
    GLEANER_GRPC_PORT: String(await freePort()),
    GLEANER_OPS_PORT: 'off',
    GLEANER_OPERATOR_KEY: operatorKey,
  };
  pids = [];
});
afterEach(async () => {
  for (const pid of pids) {
    process.kill(pid, 'SIGTERM');
    await until('the service has stopped', () => !isRunning(pid) || undefined, {
      withinMs: 15_000,
    });
  }
  await rm(folder, { recursive: true });
});

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

const isReady = async () => (await fetch(`${url}/ready`)).ok || undefined;

/**
 * Makes some calls, each of which logs a line, and returns true if the service responds to all of
 * them.
 */
async function serves(): Promise<boolean> {
  const api = createApi({ url, operatorKey });
  for (let call = 0; call < 5; call += 1) await api.createUser(1);
  return (await fetch(`${url}/health`)).ok;
}

const script = findProgram('script');

test.skipIf(script === null)('a role outlives its terminal', async () => {
  const pidFile = join(folder, 'pid');
  const command = `echo $$ > ${pidFile}; exec ${process.execPath} ${main} serve`;
  const terminal = spawn(script!, ['-qec', command, '/dev/null'], {
    cwd: root,
    env: environment,
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  terminal.stdout.resume();
  await until('the service is ready', isReady, { withinMs: 30_000 });
  const pid = Number(await readFile(pidFile, 'utf8'));
  pids.push(pid);
  const ended = once(terminal, 'exit');
  terminal.kill('SIGKILL');
  await ended;
  expect(await serves()).toBe(true);
  expect(isRunning(pid)).toBe(true);
});

test('a role outlives the readers of its output, and stops with code 0', async () => {
  const service = spawn(process.execPath, [main, 'serve'], {
    cwd: root,
    env: environment,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  service.stdout.destroy();
  service.stderr.destroy();
  pids.push(service.pid!);
  await until('the service is ready', isReady, { withinMs: 30_000 });
  expect(await serves()).toBe(true);
  const ended = once(service, 'exit');
  service.kill('SIGTERM');
  expect(await ended).toEqual([0, null]);
  pids = [];
});

test.skipIf(process.platform !== 'linux')('a role outlives the disk of its log', async () => {
  const full = openSync('/dev/full', 'w');
  const service = spawn(process.execPath, [main, 'serve'], {
    cwd: root,
    env: environment,
    stdio: ['ignore', full, full],
  });
  closeSync(full);
  pids.push(service.pid!);
  await until('the service is ready', isReady, { withinMs: 30_000 });
  expect(await serves()).toBe(true);
});

test.skipIf(process.platform !== 'linux')(
  'a command that cannot write its output fails',
  async () => {
    const full = openSync('/dev/full', 'w');
    const command = spawn(process.execPath, [main, '--version'], {
      cwd: root,
      env: environment,
      stdio: ['ignore', full, 'pipe'],
    });
    closeSync(full);
    let errors = '';
    command.stderr!.setEncoding('utf8').on('data', (text: string) => {
      errors += text;
    });
    const [code] = await once(command, 'close');
    expect([code, errors]).toEqual([
      1,
      expect.stringContaining('gleaner: standard output: ENOSPC'),
    ]);
  },
);
