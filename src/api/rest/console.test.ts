import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { brotliCompressSync, constants } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { TestGateway } from '../../../gateway/fixture/gateway.ts';
import { serveConsole } from './console.ts';
import { startTestApi } from './fixture.ts';

const script = `${'const a = 1; '.repeat(500)}\n`;
/** A worse encoding of the script than the service makes itself. */
const encodedScript = brotliCompressSync(script, {
  params: { [constants.BROTLI_PARAM_QUALITY]: 0 },
});
const publicUrl = () => 'http://gleaner.test';
let folder: string;
let built: TestGateway;
let unbuilt: TestGateway;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'gleaner-console-'));
  await mkdir(join(folder, 'assets'));
  await writeFile(
    join(folder, 'index.html'),
    '<!doctype html><meta name="style-nonce" content="%STYLE_NONCE%" />',
  );
  await writeFile(join(folder, 'assets', 'index-abc.js'), script);
  await writeFile(join(folder, 'assets', 'index-abc.js.br'), encodedScript);
  await writeFile(join(folder, '.digest'), 'of the build');
  const start = (from: string) =>
    startTestApi({ mounts: [serveConsole({ folder: from, publicUrl })] });
  built = await start(folder);
  unbuilt = await start(join(folder, 'nowhere'));
});
afterAll(async () => {
  await built.close();
  await unbuilt.close();
  await rm(folder, { recursive: true, force: true });
});

const get = (path: string, headers: Record<string, string> = {}) =>
  built.ask(path, { key: null, headers });

test.each(['/console', '/console/', '/console/jobs/9f2c', '/console/submit/mkta/get_pc?x=1'])(
  'serves the console page at %s, to be revalidated for each use',
  async (path) => {
    const response = await get(path);
    expect(response.status).toBe(200);
    expect(response.headers.get('content-type')).toBe('text/html; charset=utf-8');
    expect(response.headers.get('cache-control')).toBe('no-cache');
    expect(response.headers.get('referrer-policy')).toBe('no-referrer');
    expect(response.headers.get('x-content-type-options')).toBe('nosniff');
    const again = await get(path, { 'if-none-match': response.headers.get('etag')! });
    expect([again.status, await again.text()]).toEqual([304, '']);
  },
);

test('allows only its own files, and styles with a nonce of the process', async () => {
  const look = async (from: TestGateway) => {
    const response = await from.ask('/console', { key: null });
    const policy = response.headers.get('content-security-policy') ?? '';
    const nonce = /style-src 'self' 'nonce-([\w-]{22})'/.exec(policy)?.[1];
    expect(await response.text()).toContain(`content="${nonce}"`);
    return { policy, nonce };
  };
  const first = await look(built);
  expect(await look(built)).toEqual(first);
  const other = await startTestApi({ mounts: [serveConsole({ folder, publicUrl })] });
  expect((await look(other)).nonce).not.toBe(first.nonce);
  await other.close();
  for (const rule of [
    "default-src 'none'",
    "script-src 'self'",
    "connect-src 'self'",
    "frame-ancestors 'none'",
  ])
    expect(first.policy.split('; ')).toContain(rule);
  expect(first.policy).not.toContain('unsafe');
});

test('serves hashed files compressed and cacheable for a year', async () => {
  const response = await get('/console/assets/index-abc.js', { 'accept-encoding': 'gzip' });
  expect(response.status).toBe(200);
  expect(response.headers.get('cache-control')).toBe('max-age=31536000, immutable');
  expect(response.headers.get('content-type')).toMatch(/^text\/javascript/);
  expect(response.headers.get('content-encoding')).toBe('gzip');
  expect(await response.text()).toBe(script);
  const headers = { 'if-none-match': response.headers.get('etag')! };
  expect((await get('/console/assets/index-abc.js', headers)).status).toBe(304);
});

test('sends the brotli encoding of the build', async () => {
  const response = await get('/console/assets/index-abc.js', { 'accept-encoding': 'br' });
  expect(response.headers.get('content-encoding')).toBe('br');
  expect(response.headers.get('content-length')).toBe(String(encodedScript.length));
  expect(await response.text()).toBe(script);
});

test.each([
  '/console/assets/gone-abc.js',
  '/console/assets/index-abc.js.br',
  '/console/assets/..%2findex.html',
  '/console/assets/../.digest',
])('returns 404 for %s', async (path) => {
  const response = await get(path);
  expect(await response.text()).not.toContain('of the build');
  if (response.status !== 200) expect(response.status).toBe(404);
});

test.each(['/', '/console', '/console/jobs/9f2c'])(
  'responds to other methods of %s with 405',
  async (path) => {
    const response = await built.ask(path, { key: null, method: 'POST' });
    expect([response.status, response.headers.get('allow')]).toEqual([405, 'GET, HEAD, OPTIONS']);
    expect(await response.json()).toMatchObject({ code: 'method_not_allowed' });
    expect((await built.ask(path, { key: null, method: 'OPTIONS' })).status).toBe(204);
  },
);

test('redirects / to the console', async () => {
  const response = await get('/');
  expect([response.status, response.headers.get('location')]).toEqual([302, '/console']);
});

test('explains how to build a missing console', async () => {
  const response = await unbuilt.ask('/console/jobs', { key: null });
  expect(response.status).toBe(503);
  expect(await response.text()).toContain('npm run setup');
});

describe('below the path of the public address', () => {
  let placed: TestGateway;
  let pages: string;
  beforeAll(async () => {
    pages = await mkdtemp(join(tmpdir(), 'gleaner-console-'));
    await mkdir(join(pages, 'assets'));
    await writeFile(
      join(pages, 'index.html'),
      '<meta name="base-path" content="%BASE_PATH%" /><script type="module" src="./assets/index-abc.js"></script>',
    );
    await writeFile(join(pages, 'assets', 'index-abc.js'), script);
    const below = () => 'https://shop.test/a&b/gleaner';
    placed = await startTestApi({
      publicUrl: below,
      mounts: [serveConsole({ folder: pages, publicUrl: below })],
    });
  });
  afterAll(async () => {
    await placed.close();
    await rm(pages, { recursive: true });
  });
  const ask = (path: string) => placed.ask(path, { key: null, redirect: 'manual' });

  test('the page names its files and the path, also for deep links', async () => {
    for (const path of ['/console', '/console/jobs/1'])
      expect(await (await ask(path)).text()).toBe(
        '<meta name="base-path" content="/a&amp;b/gleaner" /><script type="module" src="/a&amp;b/gleaner/console/assets/index-abc.js"></script>',
      );
  });

  test('is included in the redirect of the start page', async () => {
    expect((await ask('/')).headers.get('location')).toBe('/a&b/gleaner/console');
  });

  test('requests are served with and without the path, as proxies pass them on', async () => {
    for (const path of ['/console/assets/index-abc.js', '/a&b/gleaner/console/assets/index-abc.js'])
      expect((await ask(path)).status).toBe(200);
    expect((await ask('/a&b/gleaner')).headers.get('location')).toBe('/a&b/gleaner/console');
    expect((await ask('/a&b/gleaner-2/health')).status).toBe(404);
    expect((await ask('/a&b/gleaner/health')).status).toBe(200);
  });
});
