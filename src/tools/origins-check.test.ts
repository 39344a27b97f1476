import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { origins as sites } from '../../sandbox/list.ts';
import { type RunningOrigins, startOrigins } from '../../sandbox/server.ts';
import { type Config, loadConfig } from '../base/config.ts';
import { parseOrigins } from '../base/origins.ts';
import { checkOrigins, type OriginCheck, type OriginCheckOptions } from './origins-check.ts';

let folder: string;
let running: RunningOrigins;
let config: Config;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'gleaner-check-'));
  running = await startOrigins({ origins: sites });
  config = {
    ...loadConfig({ GLEANER_DATA_DIR: join(folder, 'data') }),
    origins: parseOrigins(JSON.stringify(running.config)),
  };
});
afterAll(async () => {
  await running.stop();
  await rm(folder, { recursive: true });
});

async function check(options: Partial<OriginCheckOptions> = {}, changes: Partial<Config> = {}) {
  const found: OriginCheck[] = [];
  const note = (line: string) => expect.unreachable(line);
  for await (const one of checkOrigins({ ...config, ...changes }, { note, ...options }))
    found.push(one);
  return found;
}

describe('checkOrigins()', () => {
  test('fetches one page of each configured market and creates no data', async () => {
    const found = await check();
    expect(found.map(({ market, status, result }) => [market, status, result])).toEqual(
      sites.map(({ market }) => [market, 200, 'ok']),
    );
    for (const { fields, remedy, clockSkewMs } of found) {
      expect(fields.read).toBeGreaterThan(fields.listed / 2);
      expect(remedy).toBe('');
      expect(Math.abs(clockSkewMs ?? 0)).toBeLessThan(60_000);
    }
    expect(await readdir(folder)).toEqual([]);
  });

  test('fetches the page of an id', async () => {
    const ids = new Map([['mkta', '7/20101']]);
    expect(await check({ markets: ['mkta'], ids })).toMatchObject([
      { page: 'product', result: 'ok' },
    ]);
  });

  test.each([
    ['7/20807', 'page_blocked', /^Set "fetch": "browser"/],
    ['7/20800', 'page_not_found', /--id mkta=/],
    ['7/20902', 'network', /^Check the address/],
  ])('names the remedy for item %s', async (id, result, remedy) => {
    const [found] = await check({ markets: ['mkta'], ids: new Map([['mkta', id]]) });
    expect(found).toMatchObject({
      result,
      remedy: expect.stringMatching(remedy),
      fields: { read: 0 },
    });
    expect(found!.status === null).toBe(result === 'network');
  });

  test('reports a market without an address, and one that needs a URL', async () => {
    const origins = parseOrigins('{"mktb": {}, "mktf": {}}');
    expect(await check({}, { origins })).toMatchObject([
      { market: 'mktb', result: 'origin_missing', status: null },
      { market: 'mktf', result: 'skipped', remedy: 'Pass a page of a site: --id mktf=<URL>' },
    ]);
  });

  test('rejects an unknown market, an unknown id, and a configuration without origins', async () => {
    await expect(check({ markets: ['mktz'] })).rejects.toThrow(/'mktz' is not one of mkta, /);
    await expect(check({ markets: ['mktd'], ids: new Map([['mktd', 'x']]) })).rejects.toThrow(
      "'x' is not one of: <product id>",
    );
    await expect(check({}, { origins: new Map() })).rejects.toThrow(/^No origins are configured/);
  });
});
