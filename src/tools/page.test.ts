import { once } from 'node:events';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { createSecureServer } from 'node:http2';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { mkta } from '../../sandbox/mkta/index.ts';
import { mktb } from '../../sandbox/mktb/index.ts';
import { mktc } from '../../sandbox/mktc/index.ts';
import { type RunningOrigins, startOrigins } from '../../sandbox/server.ts';
import { certificate, trustCertificate } from '../../test/support/servers/certificate.ts';
import { type Config, loadConfig } from '../base/config.ts';
import { parseOrigins } from '../base/origins.ts';
import { openSqliteStore } from '../store/sqlite/open.ts';
import { targetOf } from './page/target.ts';
import { runExtract, runFetch } from './page.ts';

let folder: string;
let origins: RunningOrigins;
let config: Config;
let lines: string[];
const say = (line: string) => lines.push(line);

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'gleaner-page-'));
  origins = await startOrigins({ origins: [mkta, mktb, mktc] });
  config = {
    ...loadConfig({ GLEANER_DATA_DIR: folder }),
    origins: parseOrigins(JSON.stringify(origins.config)),
  };
});
afterAll(async () => {
  await origins.stop();
  await rm(folder, { recursive: true });
});
beforeEach(() => {
  lines = [];
});

const said = () => lines.join('\n');
/** Returns the printed JSON. */
const printed = () => JSON.parse(/^\{\n[\s\S]*?^\}$/m.exec(said())![0]);

describe('runFetch()', () => {
  test('prints the request, its times, the record, and the missing fields', async () => {
    const target = targetOf('mkta', 'product', '7/20702', 'sg');
    expect(await runFetch(config, target, {}, say)).toBe(true);
    expect(lines[0]).toBe('mkta product sg {"shop_id":"7","item_id":"20702"}');
    expect(said()).toContain(
      `GET ${origins.address('mkta', 'sg')}/api/v4/pdp/get_pc?item_id=20702&shop_id=7`,
    );
    expect(said()).toMatch(/^ {2}user-agent: Gleaner/m);
    expect(said()).toMatch(
      /^ {2}200 \(.*connect [\d.]+ ms, first byte [\d.]+ ms, total [\d.]+ ms\)$/m,
    );
    expect(printed().data.item.item_id).toBe(20702);
    expect(said()).toMatch(/^Missing \d+ of \d+ listed fields: .*data\.item\.models\[\]\.price/m);
    const file = /saved as (.*)$/m.exec(said())![1]!;
    expect(file.startsWith(folder)).toBe(true);
    expect(JSON.parse(await readFile(file, 'utf8')).data.item.item_id).toBe(20702);
  });

  test('sends the configured user agent', async () => {
    const { userAgent } = loadConfig({
      GLEANER_USER_AGENT: 'Acme/2 (+https://acme.example/robot)',
    });
    await runFetch({ ...config, userAgent }, targetOf('mkta', 'product', '7/20101', 'sg'), {}, say);
    expect(said()).toContain('  user-agent: Acme/2 (+https://acme.example/robot)');
  });

  test('signs requests to a market with sign, and refuses a browser for it', async () => {
    const sg = config.origins.get('mkta')!.addresses.get('sg');
    const origins = parseOrigins(JSON.stringify({ mkta: { sg, sign: true } }));
    const signing = { ...config, origins, publicUrl: 'https://gleaner.example' };
    const target = targetOf('mkta', 'product', '7/20101', 'sg');
    expect(await runFetch(signing, target, {}, say)).toBe(true);
    expect(said()).toContain('  signature-agent: sig1="https://gleaner.example"');
    await expect(runFetch(signing, target, { browser: true }, say)).rejects.toThrow(
      '--browser: requests to mkta are signed ("sign" in the origins file)',
    );
  });

  test('prints requests over HTTP/2', async () => {
    trustCertificate();
    const site = createSecureServer(certificate, (_request, response) =>
      response.end('{"products":[]}'),
    );
    await once(site.listen(0, '127.0.0.1'), 'listening');
    const url = `https://127.0.0.1:${(site.address() as AddressInfo).port}/collections/cups`;
    const stores = parseOrigins('{"mktf": {"allow_private": true, "robots": false}}');
    await runFetch({ ...config, origins: stores }, targetOf('mktf', 'search', url), {}, say);
    expect(said()).toMatch(
      /^GET https:.*\n {2}user-agent: Gleaner.*\n( {2}[a-z-]+: .*\n)+ {2}200 \(HTTP\/2, /m,
    );
    site.close();
  });

  test('prints every request of a record', async () => {
    const target = targetOf('mktc', 'product', 'ps--A-1-20101/A-1-20101-00001');
    expect(await runFetch(config, target, {}, say)).toBe(true);
    expect(lines.filter((line) => line.startsWith('GET '))).toHaveLength(2);
    expect(printed().data.summary.name).toEqual(expect.any(String));
  });

  test('prints the number of entries on the first page of a listing and the first entry', async () => {
    const target = targetOf('mktb', 'search', 'rak 101');
    const save = join(folder, 'listing.json');
    expect(await runFetch(config, target, { save }, say)).toBe(true);
    expect(lines.filter((line) => line.startsWith('POST '))).toHaveLength(1);
    expect(said()).toContain('60 entries on the first page; the first one:');
    expect(printed().id).toEqual(expect.any(String));
    expect(said()).toContain(`saved as ${save}`);
  });

  test('reports an empty listing', async () => {
    expect(await runFetch(config, targetOf('mktb', 'search', 'rak 700'), {}, say)).toBe(true);
    expect(said()).toContain('0 entries on the first page');
    expect(said()).toMatch(/^No record to check for the \d+ listed fields\.$/m);
  });

  test.each([
    ['20800', 'FAULT page_not_found (not retried): the site has no such page in this region'],
    ['20807', 'FAULT page_blocked (retried later): '],
    ['20902', 'FAULT network (retried soon): '],
  ])('prints the fault of item %s, and saves the response', async (id, words) => {
    expect(await runFetch(config, targetOf('mkta', 'product', `7/${id}`, 'id'), {}, say)).toBe(
      false,
    );
    expect(said()).toContain(words);
    expect(lines.some((line) => line.includes('saved as'))).toBe(id !== '20902');
  });

  test('reports that no origin is configured', async () => {
    const bare = { ...config, origins: new Map() };
    expect(await runFetch(bare, targetOf('mkta', 'product', '7/4', 'id'), {}, say)).toBe(false);
    expect(said()).toContain(
      'FAULT origin_missing (not retried): no origin is configured for mkta/id',
    );
  });

  test('shares request limits with workers', async () => {
    const dataDir = join(folder, 'shared');
    const store = openSqliteStore({ path: join(dataDir, 'gleaner.db') });
    const target = targetOf('mkta', 'product', '7/4', 'th');
    await runFetch({ ...config, dataDir }, target, {}, say);
    expect(printed().data.item.item_id).toBe(4);
    const { first } = await store.origins.reserve(origins.address('mkta', 'th'), 1, 60_000, 0);
    expect(first).toBeGreaterThan(0);
    await store.close();
  });
});

describe('runExtract()', () => {
  test('reads the page that runFetch() saved, without a request', async () => {
    const target = targetOf('mkta', 'variants', '7/20109', 'my');
    await runFetch(config, target, {}, say);
    const record = printed();
    const before = origins.counters();
    lines = [];
    expect(await runExtract(config, target, undefined, say)).toBe(true);
    expect(printed()).toEqual(record);
    expect(origins.counters()).toEqual(before);
  });

  test('reads any saved body and prints its fault', async () => {
    const body = join(folder, 'page.html');
    await writeFile(body, '<title>Log in</title><p>Please');
    const target = targetOf('mkte', 'product', 'B000000001', 'us');
    expect(await runExtract(config, target, body, say)).toBe(false);
    expect(said()).toContain('FAULT page_login (retried later): ');
  });

  test('reports a missing saved page', async () => {
    const target = targetOf('mkte', 'product', 'B000000002', 'us');
    await expect(runExtract(config, target, undefined, say)).rejects.toMatchObject({
      code: 'not_found',
    });
  });
});
