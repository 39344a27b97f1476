import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeEach, describe, expect, test } from 'vitest';
import { readSiteFiles } from '../../base/site-files.ts';
import { createDeclaredSites, parseSiteFiles } from './declared-sites.ts';

let folder: string;
let now: number;
let logged: string[];
const log = {
  info: () => logged.push('read'),
  error: (fields: { error: string }) => logged.push(fields.error),
} as unknown as NonNullable<Parameters<ReturnType<typeof createDeclaredSites>['use']>[1]>;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'gleaner-sites-'));
  now = 0;
  logged = [];
  return () => rmSync(folder, { recursive: true, force: true });
});

/**
 * Writes a file. Its size differs from that of earlier versions, so that the change is always seen.
 */
const write = (text: string, name = 'sites.json') => writeFileSync(join(folder, name), text);

function open(path = folder) {
  const files = readSiteFiles(path);
  const sites = createDeclaredSites();
  sites.use(files, log, () => now);
  return { sites, files };
}

describe('createDeclaredSites()', () => {
  test('has only the example without files', () => {
    const sites = createDeclaredSites();
    expect(sites.names()).toEqual(['example']);
    expect(sites.ofAddress(new URL('https://shop.example/p/1'))?.name).toBe('example');
  });

  test('reads a changed file within a second, without a restart', () => {
    write('{"kiln": "kiln.example"}');
    const { sites } = open(join(folder, 'sites.json'));
    expect(sites.names()).toEqual(['example', 'kiln']);
    write('{"kiln": {"hosts": ["kiln.example"], "concurrency": 3}, "oak": "oak.example"}');
    expect(sites.names()).toEqual(['example', 'kiln']);
    now = 1_000;
    expect(sites.names()).toEqual(['example', 'kiln', 'oak']);
    expect(sites.find('kiln')?.policy).toEqual({ concurrency: 3 });
  });

  test('reads files that are added to or removed from a folder', () => {
    const { sites } = open();
    write('{"oak": "oak.example"}', 'oak.jsonc');
    write('{"no": "no.example"}', 'notes.txt');
    now = 1_000;
    expect(sites.names()).toEqual(['example', 'oak']);
    rmSync(join(folder, 'oak.jsonc'));
    now = 2_000;
    expect(sites.names()).toEqual(['example']);
  });

  test('keeps the last good declarations while a file is broken, and logs its line and column once', () => {
    write('{"kiln": "kiln.example"}');
    const { sites, files } = open();
    sites.names();
    write('{\n  "kiln": "kiln.example",\n  "oak": {"hosts": 7}\n}');
    for (now = 1_000; now < 5_000; now += 1_000) expect(sites.names()).toEqual(['example', 'kiln']);
    expect(logged.filter((line) => line !== 'read')).toEqual([
      expect.stringMatching(/^sites\.json: line 3, column 20: oak\.hosts: /),
    ]);
    // A worker process that starts now gets the last good declarations.
    expect(files.texts).toEqual({ 'sites.json': '{"kiln": "kiln.example"}' });
    rmSync(folder, { recursive: true });
    now = 6_000;
    expect(sites.names()).toEqual(['example', 'kiln']);
  });

  test('refuses broken declarations at the start', () => {
    write('{"kiln": }');
    expect(() => open()).toThrow('sites.json: line 1, column 10: value expected');
  });
});

test('parseSiteFiles() refuses a name or a host that is declared twice', () => {
  const texts = {
    'a.json': '{"kiln": "kiln.example"}',
    'b.json': '{"kiln": "b.example", "oak": "kiln.example"}',
  };
  expect(() => parseSiteFiles({ texts })).toThrow(
    'b.json: kiln is also declared in a.json\nb.json: kiln.example is a host of both kiln and oak',
  );
});
