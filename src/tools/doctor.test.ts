import { once } from 'node:events';
import { chmod, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { createServer as createHttpServer } from 'node:http';
import { type AddressInfo, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { type Config, loadConfig } from '../base/config.ts';
import type { Diagnosis } from '../base/diagnosis.ts';
import { parseOrigins } from '../base/origins.ts';
import {
  diagnose,
  diagnoseBrowser,
  diagnoseClock,
  diagnoseNode,
  diagnoseSettings,
} from './doctor.ts';

let folder: string;
let config: Config;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'gleaner-doctor-'));
  config = { ...loadConfig({ GLEANER_DATA_DIR: join(folder, 'data') }), httpPort: 0, grpcPort: 0 };
});
afterEach(() => rm(folder, { recursive: true }));

async function diagnoseAll(changes: Partial<Config> = {}): Promise<Map<string, Diagnosis>> {
  const found = new Map<string, Diagnosis>();
  for await (const one of diagnose({ ...config, ...changes }, { offline: true }))
    found.set(one.name, one);
  return found;
}

describe('diagnose()', () => {
  test('finds no error in a new installation and creates no data', async () => {
    const found = await diagnoseAll();
    expect([...found.values()].filter(({ state }) => state === 'error')).toEqual([]);
    expect(found.get('origins')).toMatchObject({
      state: 'warning',
      remedy: expect.stringContaining('GLEANER_ORIGINS'),
    });
    expect(await readdir(folder)).toEqual([]);
  });

  test('ends without sites to request', async () => {
    const names = [];
    for await (const { name } of diagnose(config, { offline: false })) names.push(name);
    expect(names.filter((name) => name === 'origins')).toHaveLength(1);
    expect(names.at(-1)).toBe('messages to operators');
  });

  test('names the settings that a service in use lacks', async () => {
    const found = await diagnoseAll();
    for (const name of ['backup', 'public address', 'messages to operators'])
      expect(found.get(name)).toMatchObject({
        state: 'warning',
        remedy: expect.stringMatching(/^Set `GLEANER_/),
      });
    const complete = await diagnoseAll({
      backupTo: '/mnt/backup',
      publicUrl: 'https://gleaner.example',
      notices: { ...config.notices, operatorWebhook: { url: 'https://ops.example', secret: 'x' } },
    });
    expect(complete.get('backup')).toMatchObject({ state: 'ok', message: 'daily to /mnt/backup' });
    expect(complete.get('public address')).toMatchObject({ message: 'https://gleaner.example' });
    expect(complete.get('messages to operators')).toMatchObject({ message: 'https://ops.example' });
  });

  test('names a folder of scheduled backups that cannot be written', async () => {
    const name = 'backup folder';
    expect((await diagnoseAll({ backupTo: join(folder, 'a', 'b') })).has(name)).toBe(false);
    expect((await diagnoseAll({ backupTo: 'https://k:s@s3.example/b' })).has(name)).toBe(false);
    const file = join(folder, 'file');
    await writeFile(file, '');
    expect((await diagnoseAll({ backupTo: join(file, 'b') })).get(name)).toMatchObject({
      state: 'error',
      message: expect.stringContaining(`${join(file, 'b')} cannot be written: EACCES`),
      remedy: expect.stringMatching(/^Set GLEANER_BACKUP_TO/),
    });
  });

  test('checks the declared sites, if there are any', async () => {
    const files = (text: string) => ({ path: folder, texts: { 'sites.json': text } });
    expect((await diagnoseAll()).has('declared sites')).toBe(false);
    const found = await diagnoseAll({ siteFiles: files('{"kiln": "kiln.example"}') });
    expect(found.get('declared sites')).toMatchObject({ state: 'ok', message: 'example, kiln' });
    const broken = await diagnoseAll({ siteFiles: files('{"kiln": 7}') });
    expect(broken.get('declared sites')).toMatchObject({
      state: 'error',
      message: expect.stringContaining('sites.json: line 1, column 10: kiln'),
    });
  });

  test('names the files that settings come from, and warns of those that every user can read', async () => {
    const path = join(folder, 'mongo');
    await writeFile(path, 'x', { mode: 0o600 });
    const secretFiles = [{ name: 'MONGODB_URI', path }] as const;
    const dotEnv = { path, values: { GLEANER_HTTP_PORT: '1' }, ignored: ['PATH'] };
    expect(diagnoseSettings({ secretFiles: [] }, null)).toMatchObject({
      message: 'from the environment',
    });
    expect(diagnoseSettings({ secretFiles }, dotEnv)).toMatchObject({
      state: 'ok',
      message: `from files: 1 in ${path} (not loaded: PATH); MONGODB_URI in ${path}`,
    });
    await chmod(path, 0o644);
    expect(diagnoseSettings({ secretFiles }, null)).toMatchObject({
      state: 'warning',
      message: `every user of this host can read ${path}`,
      remedy: `Run chmod o= ${path}`,
    });
  });

  test('warns of a port in use', async () => {
    const server = createServer().listen(0, config.host);
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    const found = await diagnoseAll({ httpPort: port });
    server.close();
    expect(found.get('HTTP port')).toMatchObject({
      state: 'warning',
      message: `${port} is in use`,
    });
  });

  test.each([
    ['the REST API', '/health', '{"status":"ok"}'],
    ['the gRPC port', '/grpc.health.v1.Health/Check', '{"status":"SERVING"}'],
  ])('recognizes %s of a running service', async (_name, path, body) => {
    const server = createHttpServer((request, response) => {
      response.setHeader('x-request-id', '1').end(request.url === path ? body : '');
    }).listen(0, config.host);
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    const found = await diagnoseAll({ httpPort: port });
    server.close();
    expect(found.get('HTTP port')).toMatchObject({
      state: 'ok',
      message: `${port} is that of the running service`,
    });
  });

  test('reports a data folder that cannot be created, and a full disk', async () => {
    const file = join(folder, 'file');
    await writeFile(file, '');
    expect((await diagnoseAll({ dataDir: join(file, 'data') })).get('disk')).toMatchObject({
      state: 'error',
    });
    expect(
      (
        await diagnoseAll({
          limits: { ...config.limits, minFreeDiskBytes: Number.MAX_SAFE_INTEGER },
        })
      ).get('disk'),
    ).toMatchObject({
      state: 'error',
      message: expect.stringMatching(/only [\d,]+ MiB free$/),
    });
  });

  test('reports engines that do not respond', async () => {
    const found = await diagnoseAll({
      mongoUri: 'mongodb://127.0.0.1:1/gleaner',
      natsUrl: 'nats://127.0.0.1:1',
    });
    expect(found.get('store')).toMatchObject({
      state: 'error',
      remedy: expect.stringContaining('MONGODB_URI'),
    });
    expect(found.get('queue')).toMatchObject({
      state: 'error',
      remedy: expect.stringContaining('NATS_URL'),
    });
    // Engines have backups of their own.
    expect(found.has('backup')).toBe(false);
  });
});

test.each([
  ['24.12.0', 'ok'],
  ['26.0.0', 'ok'],
  ['24.11.1', 'error'],
  ['20.19.0', 'error'],
])('diagnoseNode() reports Node %s as %s', (version, state) => {
  expect(diagnoseNode(version).state).toBe(state);
});

test.each([
  [null, '{"mkta": {"fetch": "browser"}}', 'error'],
  [null, '{"mkta": {"fetch": "browser", "browser_url": "http://browser:9222"}}', 'ok'],
  [null, '{"mkta": {}}', 'ok'],
  ['/usr/bin/chromium', '{"mkta": {"fetch": "browser"}}', 'ok'],
])('diagnoseBrowser() with browser %s and origins %s reports %s', (browser, origins, state) => {
  expect(diagnoseBrowser({ browser, browserUrls: [], origins: parseOrigins(origins) }).state).toBe(
    state,
  );
});

test('diagnoseClock() warns of a difference above the maximum', () => {
  expect(diagnoseClock(-1_000, 1_000, 'the store')).toMatchObject({ state: 'ok' });
  expect(diagnoseClock(-1_100, 1_000, 'the store')).toMatchObject({
    state: 'warning',
    message: '-1.1 s from the clock of the store',
  });
});
