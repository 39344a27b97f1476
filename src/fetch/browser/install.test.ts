import { mkdtemp, rm } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { crc32 } from 'node:zlib';
import { Browser, computeExecutablePath, detectBrowserPlatform } from '@puppeteer/browsers';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { findInstalledBrowser } from '../../base/browser-path.ts';
import { loadConfig } from '../../base/config.ts';
import { installBrowser } from './install.ts';

/** Returns a ZIP archive of one executable file, stored without compression. */
function zipOf(name: string, text: string): Buffer {
  const [path, bytes] = [Buffer.from(name), Buffer.from(text)];
  const sizes = Buffer.alloc(12);
  sizes.writeUInt32LE(crc32(bytes), 0);
  sizes.writeUInt32LE(bytes.length, 4);
  sizes.writeUInt32LE(bytes.length, 8);
  const lengths = Buffer.from([path.length, 0, 0, 0]);
  // Version 2.0, no flags, method "stored", no time.
  const common = Buffer.concat([Buffer.from([20, 0, 0, 0, 0, 0, 0, 0, 0, 0]), sizes, lengths]);
  const local = Buffer.concat([Buffer.from('PK\x03\x04'), common, path, bytes]);
  const attributes = Buffer.alloc(14);
  attributes.writeUInt32LE((0o100755 << 16) >>> 0, 6);
  const entry = Buffer.concat([Buffer.from('PK\x01\x02\x14\x03'), common, attributes, path]);
  const end = Buffer.alloc(22);
  end.write('PK\x05\x06', 'latin1');
  end.writeUInt16LE(1, 8);
  end.writeUInt16LE(1, 10);
  end.writeUInt32LE(entry.length, 12);
  end.writeUInt32LE(local.length, 16);
  return Buffer.concat([local, entry, end]);
}

let folder: string;
let dataDir: string;
let mirror: Server;
let requested: string[];
let isBroken: boolean;
const baseUrl = () => `http://127.0.0.1:${(mirror.address() as AddressInfo).port}/chrome`;

/** Serves an archive with the executable of the requested version. */
function serveArchive(url: string): Buffer {
  const [, , buildId, , file] = url.split('/');
  const cacheDir = '/';
  const path = computeExecutablePath({ browser: Browser.CHROME, buildId: buildId!, cacheDir });
  const inside = path.slice(path.indexOf(`/${file!.replace('.zip', '')}/`) + 1);
  return zipOf(inside, '#!/bin/sh\necho Chrome\n');
}

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'gleaner-install-'));
  dataDir = join(folder, 'data');
  requested = [];
  isBroken = false;
  mirror = createServer((request, response) => {
    requested.push(`${request.method} ${request.url}`);
    if (isBroken) response.writeHead(404).end();
    else response.end(serveArchive(request.url!));
  });
  await new Promise<void>((resolve) => mirror.listen(0, '127.0.0.1', resolve));
  return async () => {
    mirror.close();
    await rm(folder, { recursive: true, force: true });
  };
});
afterEach(() => mirror.closeAllConnections());

const isSupported = detectBrowserPlatform() !== undefined;

test.skipIf(!isSupported)('downloads a browser that every later start finds', async () => {
  expect(findInstalledBrowser(dataDir)).toBeNull();
  const { path, version } = await installBrowser({ dataDir, from: `${baseUrl()}/` });
  expect(version).toMatch(/^\d+(\.\d+){3}$/);
  expect(requested.at(-1)).toMatch(
    new RegExp(`^GET /chrome/${version}/[\\w-]+/chrome-[\\w-]+\\.zip$`),
  );
  expect(path.startsWith(join(dataDir, 'browser'))).toBe(true);
  expect(findInstalledBrowser(dataDir)).toBe(path);
  expect(loadConfig({ GLEANER_DATA_DIR: dataDir, PATH: '/usr/bin' }).browser).toBe(path);
});

test.skipIf(!isSupported)('does not download an installed version again', async () => {
  await installBrowser({ dataDir, from: baseUrl() });
  requested = [];
  await installBrowser({ dataDir, from: baseUrl() });
  expect(requested).toEqual([]);
});

test.skipIf(!isSupported)('reports a failed download and leaves no browser', async () => {
  isBroken = true;
  await expect(installBrowser({ dataDir, from: baseUrl() })).rejects.toMatchObject({
    code: 'unavailable',
    message: expect.stringMatching(/^Chrome [\d.]+ could not be installed: .*404/s),
  });
  expect(findInstalledBrowser(dataDir)).toBeNull();
});
