import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { createServer, type ServerResponse } from 'node:http';
import { type AddressInfo, connect, createServer as createTcpServer, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { systemClock } from '../../src/base/clock.ts';
import { createLog } from '../../src/base/log.ts';
import { processFolderPrefix } from '../../src/base/process-folder.ts';
import { serveBrowser } from '../../src/fetch/browser/serve.ts';
import type { Fetcher } from '../../src/fetch/http.ts';
import { freePort } from '../support/servers/ports.ts';
import { until } from '../support/time/until.ts';
import { browserFetcher, chromium, skipped } from './chromium.ts';

/** Responses that wait for the end of a test. */
const waiting: ServerResponse[] = [];
const server = createServer((request, response) => {
  if (request.url === '/wait') return void waiting.push(response);
  const { pathname } = new URL(request.url!, 'http://here');
  const cookie = { 'set-cookie': 'visitor=7; Path=/' };
  if (pathname === '/data')
    return void response
      .writeHead(200, { 'content-type': 'application/json' })
      .end(JSON.stringify({ cookie: request.headers.cookie ?? null, text: 'x'.repeat(8_000_000) }));
  response
    .writeHead(200, { 'content-type': 'text/html', ...cookie })
    .end(`<title>here</title><script>fetch('/data')</script>`);
});

/** A browser that runs elsewhere. */
interface RemoteBrowser {
  process: ChildProcess;
  port: number;
  folder: string;
}

/** Starts a browser that listens on a port. */
async function startRemote(): Promise<RemoteBrowser> {
  const folder = mkdtempSync(join(tmpdir(), 'remote-'));
  const root = process.getuid?.() === 0 ? ['--no-sandbox'] : [];
  const flags = [
    '--headless',
    '--disable-gpu',
    '--remote-debugging-port=0',
    `--user-data-dir=${folder}`,
  ];
  const path = 'missing' in chromium ? '' : chromium.path;
  const child = spawn(path, [...flags, ...root], { stdio: 'ignore', detached: true });
  const note = join(folder, 'DevToolsActivePort');
  const text = await until(
    'the browser listens',
    () => (existsSync(note) ? readFileSync(note, 'utf8') || undefined : undefined),
    { withinMs: 20_000 },
  );
  return { process: child, port: Number(text.split('\n')[0]), folder };
}

/** Serves the installed browser to others. */
const serve = (memoryBytes: number) =>
  serveBrowser({
    path: 'missing' in chromium ? '' : chromium.path,
    host: '127.0.0.1',
    port: 0,
    memoryBytes,
    clock: systemClock,
    log: createLog('silent', 'test'),
  });

/** Returns the process of the browser that a process started, or undefined. */
function leaderOf(parent: number): number | undefined {
  return readdirSync('/proc')
    .map(Number)
    .find((pid) => {
      try {
        const line = readFileSync(`/proc/${pid}/cmdline`, 'utf8');
        return (
          line.includes(processFolderPrefix('browser', parent)) &&
          line.includes('debugging-pipe') &&
          !line.includes('--type=')
        );
      } catch {
        return false;
      }
    });
}

async function stopRemote({ process: child, folder }: RemoteBrowser): Promise<void> {
  if (child.exitCode === null && child.signalCode === null) {
    const gone = once(child, 'exit');
    process.kill(-child.pid!, 'SIGKILL');
    await gone;
  }
  rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
}

/** A proxy between the service and a browser, which cuts, delays, and holds connections. */
class Line {
  readonly #sockets = new Set<Socket>();
  /** Port of the browser. */
  target = 0;
  delayMs = 0;
  isHeld = false;
  connections = 0;
  readonly server = createTcpServer((socket) => {
    this.connections += 1;
    const upstream = connect(this.target, '127.0.0.1');
    for (const [from, to] of [
      [socket, upstream],
      [upstream, socket],
    ] as const) {
      this.#sockets.add(from);
      from.on('error', () => to.destroy());
      from.on('close', () => to.destroy());
      from.on('data', (bytes: Buffer) => {
        if (this.isHeld) return;
        if (this.delayMs === 0) to.write(bytes);
        else setTimeout(() => to.write(bytes), this.delayMs);
      });
    }
  });

  get url(): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }

  cut(): void {
    for (const socket of this.#sockets) socket.destroy();
    this.#sockets.clear();
  }
}

describe.skipIf(skipped)(`a browser that runs elsewhere${skipped}`, () => {
  let origin: string;
  let remote: RemoteBrowser;
  let other: RemoteBrowser;
  const line = new Line();
  const fetchers: Fetcher[] = [];

  /** Creates a fetcher that has no browser of its own. */
  const newFetcher = (urls: string[], limits: object = {}) => {
    const made = browserFetcher(
      { mkta: { sg: origin }, mktf: {} },
      { quietMs: 100, ...limits },
      { path: null, urlsOf: () => urls },
    );
    fetchers.push(made);
    return made;
  };
  const urlOf = ({ port }: RemoteBrowser) => `http://127.0.0.1:${port}`;
  const dataOf = async (fetcher: Fetcher) => {
    const request = { path: '/data', page: { path: '/', take: 'response' } } as const;
    return JSON.parse((await fetcher.for('mkta', 'sg')(request)).body.toString()) as {
      cookie: string;
    };
  };
  const contextsOf = async ({ port }: RemoteBrowser) => {
    const targets = await (await fetch(`http://127.0.0.1:${port}/json/list`)).json();
    return (targets as { url: string }[]).filter(({ url }) => url.startsWith(origin)).length;
  };
  const wait = async (fetcher: Fetcher) => {
    const arrived = once(server, 'request');
    const outcome = expect(fetcher.for('mkta', 'sg')({ path: '/wait' })).rejects.toMatchObject({
      code: 'browser_failed',
    });
    await Promise.race([arrived, outcome]);
    return { outcome };
  };

  beforeAll(async () => {
    await once(server.listen(0, '127.0.0.1'), 'listening');
    await once(line.server.listen(0, '127.0.0.1'), 'listening');
    origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    [remote, other] = await Promise.all([startRemote(), startRemote()]);
    line.target = remote.port;
  });

  afterEach(async () => {
    for (const response of waiting.splice(0)) response.destroy();
    await Promise.all(fetchers.splice(0).map((fetcher) => fetcher.close()));
    Object.assign(line, { delayMs: 0, isHeld: false });
    line.cut();
  });

  afterAll(async () => {
    line.server.close();
    server.closeAllConnections();
    server.close();
    await Promise.all([remote, other].map(stopRemote));
  });

  test('opens pages in contexts that keep their sessions, and ends them with the connection', async () => {
    const fetcher = newFetcher([urlOf(remote)], { contextPages: 1 });
    expect((await dataOf(fetcher)).cookie).toBe('visitor=7');
    expect((await fetcher.for('mkta', 'sg')({ path: '/' })).body.toString()).toContain('here');
    expect(await contextsOf(remote)).toBe(0);
    expect(remote.process.exitCode).toBeNull();
  });

  test('works over a slow connection', async () => {
    line.delayMs = 100;
    expect((await dataOf(newFetcher([line.url]))).cookie).toBe('visitor=7');
  });

  test('is reconnected after a lost connection, and keeps no page', async () => {
    const fetcher = newFetcher([line.url]);
    const { outcome } = await wait(fetcher);
    expect(await contextsOf(remote)).toBe(1);
    line.cut();
    await outcome;
    await until(
      'the page has ended',
      async () => ((await contextsOf(remote)) === 0 ? true : undefined),
      {
        withinMs: 10_000,
      },
    );
    expect((await dataOf(fetcher)).cookie).toContain('visitor=7');
    expect(line.connections).toBeGreaterThan(2);
  });

  test('is disconnected if its connection stalls', async () => {
    const fetcher = newFetcher([line.url]);
    const { outcome } = await wait(fetcher);
    line.isHeld = true;
    await outcome;
    line.isHeld = false;
    expect((await dataOf(fetcher)).cookie).toContain('visitor=7');
  });

  test('is not stopped by another process that does not respond', async () => {
    const held = newFetcher([line.url]);
    await dataOf(held);
    line.isHeld = true;
    expect((await dataOf(newFetcher([urlOf(remote)]))).cookie).toBe('visitor=7');
  });

  test('shares the pages with others, which take its pages if it is gone', async () => {
    const gone = await startRemote();
    const fetcher = newFetcher([urlOf(gone), urlOf(other)]);
    const pages = [await wait(fetcher), await wait(fetcher)];
    expect([await contextsOf(gone), await contextsOf(other)]).toEqual([1, 1]);
    await stopRemote(gone);
    await pages[0]!.outcome;
    expect((await dataOf(fetcher)).cookie).toContain('visitor=7');
    await fetcher.close();
    await pages[1]!.outcome;
  });

  test('is served by a process of its own, which starts it again', async () => {
    const served = await serve(Number.MAX_SAFE_INTEGER);
    const fetcher = newFetcher([`http://127.0.0.1:${served.port}`]);
    try {
      const { outcome } = await wait(fetcher);
      const before = leaderOf(process.pid);
      process.kill(before!, 'SIGKILL');
      await outcome;
      const data = await until('the browser runs again', () => dataOf(fetcher), {
        withinMs: 20_000,
      });
      expect(data.cookie).toContain('visitor=7');
      expect(leaderOf(process.pid)).not.toBe(before);
    } finally {
      await served.close();
    }
    expect(leaderOf(process.pid)).toBeUndefined();
  });

  test('served to others is replaced when it uses too much memory', async () => {
    const served = await serve(1);
    const before = leaderOf(process.pid);
    await until(
      'another browser runs',
      () => {
        const leader = leaderOf(process.pid);
        return leader !== undefined && leader !== before ? true : undefined;
      },
      { withinMs: 20_000 },
    );
    await served.close();
  });

  test('reads no addresses of callers, and names the address that it cannot reach', async () => {
    const request = { origin: 'http://store.example', path: '/' };
    await expect(newFetcher([urlOf(remote)]).for('mktf', '')(request)).rejects.toMatchObject({
      code: 'address_refused',
      message: expect.stringContaining('makes its own connections'),
    });
    const url = `http://127.0.0.1:${await freePort()}`;
    await expect(dataOf(newFetcher([`${url}/?token=secret`]))).rejects.toMatchObject({
      code: 'browser_failed',
      message: expect.stringMatching(
        new RegExp(`^the browser at ${url} cannot be reached: .*ECONNREFUSED`),
      ),
    });
  });
});
