import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { processFolderPrefix } from '../../src/base/process-folder.ts';
import { profileParent } from '../../src/fetch/browser/launch.ts';
import { readTreeMemory } from '../../src/fetch/browser/memory.ts';
import type { Fetcher } from '../../src/fetch/http.ts';
import { slack, until } from '../support/time/until.ts';
import { browserFetcher, skipped } from './chromium.ts';

const absent = skipped || (existsSync('/proc/self/cmdline') ? '' : ' (this system has no /proc)');

/**
 * Responds immediately, except for /wait, which never ends. The page at /leaks allocates 400 MB and
 * keeps it.
 */
const leak = `<script>
  globalThis.kept = Array.from({ length: 40 }, () => new Uint8Array(10 * 1024 ** 2).fill(7));
  fetch('/wait');
</script>`;
const server = createServer((request, response) => {
  if (request.url === '/leaks')
    return void response.writeHead(200, { 'content-type': 'text/html' }).end(leak);
  if (request.url !== '/wait')
    response.writeHead(200, { 'content-type': 'text/html' }).end('<title>here</title>');
});
/** Id of the unprivileged user "nobody". */
const nobody = 65_534;
/** True if the test may switch to that user, who must be able to read this program. */
const canBeNobody =
  process.getuid?.() === 0 &&
  spawnSync(
    process.execPath,
    ['-e', `require('node:fs').readFileSync(process.argv[1])`, import.meta.filename],
    {
      uid: nobody,
      gid: nobody,
    },
  ).status === 0;
const outerFolder = tmpdir();
/**
 * Folder for the browsers of this suite alone: the start of a browser removes leftover folders
 * beside its own. Its path is short enough for profileParent().
 */
let folder: string;
let origin: string;
let fetcher: Fetcher;
let child: ChildProcess | undefined;

/** Returns the names of the folders of browsers started by a process. */
const folderOf = (pid: number) => processFolderPrefix('browser', pid);

/** Returns the browser processes started by a process, with their command lines. */
function processesOf(pid: number): { pid: number; line: string }[] {
  const found: { pid: number; line: string }[] = [];
  for (const name of readdirSync('/proc')) {
    if (!/^\d+$/.test(name)) continue;
    try {
      const line = readFileSync(`/proc/${name}/cmdline`, 'utf8').replaceAll('\0', ' ');
      if (line.includes(folderOf(pid))) found.push({ pid: Number(name), line });
    } catch {
      // The process has ended in the meantime.
    }
  }
  return found;
}

const foldersOf = (pid: number) =>
  readdirSync(profileParent()).filter((name) => name.startsWith(folderOf(pid)));

const noneOf = (pid: number) =>
  until(
    `no process of a browser of ${pid}`,
    () => (processesOf(pid).length === 0 ? true : undefined),
    {
      withinMs: 20_000,
    },
  );

const get = (path: string) => fetcher.for('mkta', 'sg')({ path });
const arrived = (path: string) =>
  new Promise<void>((resolve) => {
    const look = ({ url }: { url?: string }) => {
      if (url !== path) return;
      server.off('request', look);
      resolve();
    };
    server.on('request', look);
  });

/** Command line of the process that starts the others. */
const main = /^(?!.*--type=).*--remote-debugging-pipe/;

/** Kills our own processes that match a pattern. */
function kill(sort: RegExp): void {
  for (const { pid, line } of processesOf(process.pid))
    if (sort.test(line)) process.kill(pid, 'SIGKILL');
}

describe.skipIf(absent)(`the browser processes${absent}`, () => {
  beforeAll(async () => {
    folder = mkdtempSync('/tmp/suite-');
    // Some tests start processes of other users.
    chmodSync(folder, 0o1777);
    process.env.TMPDIR = folder;
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    fetcher = browserFetcher({ mkta: { sg: origin } }, { quietMs: 100 });
  });

  afterEach(() => {
    child?.kill('SIGKILL');
    child = undefined;
  });

  afterAll(async () => {
    await fetcher.close();
    server.closeAllConnections();
    server.close();
    process.env.TMPDIR = outerFolder;
    rmSync(folder, { recursive: true });
  });

  test('start with the first page, without the secrets of the service', async () => {
    expect(processesOf(process.pid)).toEqual([]);
    process.env.GLEANER_TEST_SECRET = 'hush';
    await get('/');
    delete process.env.GLEANER_TEST_SECRET;
    const processes = processesOf(process.pid);
    expect(processes.length).toBeGreaterThan(2);
    for (const { pid } of processes) {
      expect(readFileSync(`/proc/${pid}/environ`, 'utf8')).not.toContain('GLEANER_TEST_SECRET');
    }
    const withoutSandbox = processes.some(({ line }) => line.includes('--no-sandbox'));
    expect(withoutSandbox).toBe(process.getuid?.() === 0);
  });

  test('fail their page when killed, and the next page starts new ones', async () => {
    const waiting = expect(get('/wait')).rejects.toMatchObject({ code: 'browser_failed' });
    await arrived('/wait');
    kill(main);
    await waiting;
    expect((await get('/')).body.toString()).toContain('here');
  });

  test('are replaced if they hang', async () => {
    const waiting = expect(get('/wait')).rejects.toMatchObject({ code: 'browser_failed' });
    await arrived('/wait');
    const stoppedAt = performance.now();
    const [hung] = processesOf(process.pid).filter(({ line }) => main.test(line));
    process.kill(hung!.pid, 'SIGSTOP');
    await waiting;
    // Checked every 2 s, and given up after 8 s.
    expect(performance.now() - stoppedAt).toBeLessThan(15_000 * slack);
    expect((await get('/')).body.toString()).toContain('here');
    expect(processesOf(process.pid).filter(({ pid }) => pid === hung!.pid)).toEqual([]);
  });

  test('fail only their own page when killed', async () => {
    const waiting = expect(get('/wait')).rejects.toMatchObject({ code: 'browser_failed' });
    await arrived('/wait');
    kill(/--type=renderer/);
    await waiting;
    expect((await get('/')).body.toString()).toContain('here');
  });

  test('are replaced after their page or at once, depending on their memory use', async () => {
    const leader = () =>
      processesOf(process.pid).find(({ line }) => !line.includes('--type='))!.pid;
    await get('/');
    const before = leader();
    const usual = (await readTreeMemory(before))!;
    await fetcher.close();
    // Growth of 400 MB exceeds the bound in one case, and twice the bound in the other.
    for (const [memoryBytes, code] of [
      [usual + 200 * 1024 ** 2, null],
      [(usual + 200 * 1024 ** 2) / 2, 'browser_failed'],
    ] as const) {
      fetcher = browserFetcher(
        { mkta: { sg: origin } },
        { settleMs: 1_500, memoryBytes, memoryCheckMs: 50 },
      );
      const leaking = get('/leaks').then(
        () => null,
        (fault) => fault.code,
      );
      expect(await leaking).toBe(code);
      await noneOf(process.pid);
      await fetcher.close();
    }
    fetcher = browserFetcher({ mkta: { sg: origin } }, { quietMs: 100 });
  });

  test('end and leave no folder when the fetcher is closed, also during a page', async () => {
    const waiting = expect(get('/wait')).rejects.toMatchObject({ code: 'browser_failed' });
    await arrived('/wait');
    await fetcher.close();
    await waiting;
    await noneOf(process.pid);
    expect(foldersOf(process.pid)).toEqual([]);
    await expect(get('/')).rejects.toMatchObject({ code: 'browser_failed' });
  });

  test.skipIf(!canBeNobody)(
    'are sandboxed for an unprivileged worker, or the missing requirement is reported',
    async () => {
      const script = `
      const { browserFetcher } = await import(${JSON.stringify(new URL('./chromium.ts', import.meta.url).href)});
      const fetcher = browserFetcher({ mkta: { sg: ${JSON.stringify(origin)} } }, { quietMs: 100 });
      const page = fetcher.for('mkta', 'sg');
      const said = await page({ path: '/' }).then(() => 'ready', ({ message }) => message);
      console.log(said);
      if (said === 'ready') await page({ path: '/wait' });
      else await fetcher.close();`;
      child = spawn(process.execPath, ['--input-type=module', '-e', script], {
        stdio: ['ignore', 'pipe', 'inherit'],
        uid: nobody,
        gid: nobody,
      });
      const [said] = await once(createInterface(child.stdout!), 'line');
      if (said !== 'ready') return expect(said).toMatch(/its sandbox needs user namespaces/);
      const processes = processesOf(child.pid!);
      expect(processes.filter(({ line }) => line.includes('--no-sandbox'))).toEqual([]);
      const renderers = processes.filter(({ line }) => line.includes('--type=renderer'));
      expect(renderers.length).toBeGreaterThan(0);
      for (const { pid } of renderers) {
        const status = readFileSync(`/proc/${pid}/status`, 'latin1');
        // A system call filter, and a separate id in a separate namespace.
        expect(status).toMatch(/^Seccomp:\t2$/m);
        expect(status).toMatch(/^NSpid:\t\d+\t\d+/m);
      }
      child.kill('SIGKILL');
      await noneOf(child.pid!);
      for (const name of foldersOf(child.pid!))
        rmSync(join(profileParent(), name), { recursive: true });
    },
  );

  test('end when the service is killed, and the next start removes leftover folders', async () => {
    const script = `
      const { browserFetcher } = await import(${JSON.stringify(new URL('./chromium.ts', import.meta.url).href)});
      const fetcher = browserFetcher({ mkta: { sg: ${JSON.stringify(origin)} } }, { quietMs: 100 });
      await fetcher.for('mkta', 'sg')({ path: '/' });
      console.log('ready');
      await fetcher.for('mkta', 'sg')({ path: '/wait' });`;
    child = spawn(process.execPath, ['--input-type=module', '-e', script], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const pid = child.pid!;
    expect((await once(createInterface(child.stdout!), 'line'))[0]).toBe('ready');
    expect(processesOf(pid).length).toBeGreaterThan(2);
    const gone = once(child, 'exit');
    child.kill('SIGKILL');
    await gone;
    await noneOf(pid);
    expect(foldersOf(pid)).toHaveLength(1);
    const other = browserFetcher({ mkta: { sg: origin } }, { quietMs: 100 });
    await other.for('mkta', 'sg')({ path: '/' });
    await other.close();
    expect(foldersOf(pid)).toEqual([]);
  });
});
