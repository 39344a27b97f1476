import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { mkta } from '../../sandbox/mkta/index.ts';
import { mktd } from '../../sandbox/mktd/index.ts';
import { type RunningOrigins, startOrigins } from '../../sandbox/server.ts';
import { type Config, loadConfig } from '../../src/base/config.ts';
import { parseOrigins } from '../../src/base/origins.ts';
import { targetOf } from '../../src/tools/page/target.ts';
import { runExtract, runFetch } from '../../src/tools/page.ts';
import { chromium, skipped } from './chromium.ts';

describe.skipIf(skipped)(`gleaner page … --browser${skipped}`, () => {
  let folder: string;
  let origins: RunningOrigins;
  let config: Config;
  let lines: string[];
  const say = (line: string) => lines.push(line);
  const said = () => lines.join('\n');
  const printed = () => JSON.parse(/^\{\n[\s\S]*?^\}$/m.exec(said())![0]);

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'gleaner-page-'));
    origins = await startOrigins({ origins: [mkta, mktd], browserOnly: true });
    const loaded = loadConfig({ GLEANER_DATA_DIR: folder });
    config = {
      ...loaded,
      origins: parseOrigins(JSON.stringify(origins.config)),
      browser: 'missing' in chromium ? null : chromium.path,
    };
  });
  beforeEach(() => {
    lines = [];
  });
  afterAll(async () => {
    await origins.stop();
    await rm(folder, { recursive: true });
  });

  const item = () => targetOf('mkta', 'product', '1000100/30000000007', 'sg');

  test('reads and saves a page that refuses plain HTTP; extract reads the saved page', async () => {
    expect(await runFetch(config, item(), {}, say)).toBe(false);
    expect(said()).toContain('FAULT page_blocked');
    lines = [];
    expect(await runFetch(config, item(), { browser: true }, say)).toBe(true);
    const record = printed();
    expect(record.data.item.item_id).toBe(30000000007);
    expect(said()).toMatch(
      /^GET http:.*\/api\/v4\/pdp\/get_pc\?.*\n {2}by the browser, from the page \/\S+$/m,
    );
    expect(said()).toMatch(/^ {2}200 \(total \d+ ms\)$/m);
    expect(said()).toMatch(/^(?:Missing|All) \d+ .*listed fields/m);
    const file = /saved as (.*)$/m.exec(said())![1]!;
    expect(JSON.parse(await readFile(file, 'utf8')).data.item.item_id).toBe(30000000007);
    lines = [];
    expect(await runExtract(config, item(), undefined, say)).toBe(true);
    expect(printed()).toEqual({ ...record, collected_at: expect.any(Number) });
  });

  test('reads a document after its scripts have run', async () => {
    const target = targetOf('mktd', 'product', '1729384756102938475', 'my');
    expect(await runFetch(config, target, { browser: true }, say)).toBe(true);
    expect(printed()._product_id).toBe('1729384756102938475');
  });

  test('reports a missing browser', async () => {
    const none = { ...config, browser: null };
    expect(await runFetch(none, item(), { browser: true }, say)).toBe(false);
    expect(said()).toContain('FAULT browser_missing (not retried): ');
  });
});
