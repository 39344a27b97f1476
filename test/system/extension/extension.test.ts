import { execFile } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { root } from '../../support/service/service.ts';

// A marketplace is one proto file and two folders, a kind one folder: fixture/ has nothing else.
const parts = [
  'src',
  'clients',
  'gen',
  'proto',
  'sandbox',
  'gateway',
  'console',
  'deploy',
  'docs',
  'test',
];
const files = [
  'package.json',
  'package-lock.json',
  'tsconfig.json',
  'vitest.config.ts',
  'buf.yaml',
  'buf.gen.yaml',
];
const execute = promisify(execFile);

let tree: string;

/** Runs a program of the copied tree and returns its output. Throws if it fails. */
async function run(...args: string[]): Promise<string> {
  const { stdout } = await execute(process.execPath, args, { cwd: tree, maxBuffer: 1 << 25 });
  return stdout;
}

const packaged = (path: string) => join('node_modules', path);

beforeAll(async () => {
  tree = mkdtempSync(join(tmpdir(), 'gleaner-extension-'));
  const isCopied = (path: string) =>
    !/\/(?:node_modules|dist|dist-\d+)(?:\/|$)/.test(path.slice(root.length));
  for (const name of [...parts, ...files])
    cpSync(join(root, name), join(tree, name), { recursive: true, filter: isCopied });
  symlinkSync(join(root, 'node_modules'), join(tree, 'node_modules'));
  cpSync(join(root, 'test/system/extension/fixture'), tree, { recursive: true });
  const path = [
    join(root, 'node_modules/.bin'),
    join(process.execPath, '..'),
    '/usr/bin',
    '/bin',
  ].join(':');
  await execute(process.execPath, [packaged('@bufbuild/buf/bin/buf'), 'generate'], {
    cwd: tree,
    env: { PATH: path, HOME: tree },
  });
  await run('deploy/generate.ts');
});

afterAll(() => rmSync(tree, { recursive: true, force: true }));

describe('a seventh marketplace and a ninth kind', () => {
  test('are in the table of marketplaces, with their price and rate limits', () => {
    expect(readFileSync(join(tree, 'docs/marketplaces.md'), 'utf8')).toContain(
      '| `mktg` | sg | `pdp_bulk` 2, `stock_check` 2 | 7 | 3 | ignored |',
    );
  });

  test('are known to the command line', async () => {
    const words = ['complete', '--', 'job', 'submit', 'mktg', ''];
    expect(await run('src/cli/main.ts', ...words)).toMatch(/^pdp_bulk\t.*\nstock_check\t/m);
    await expect(
      run('src/cli/main.ts', 'page', 'fetch', 'mktg', 'product', 'x'),
    ).rejects.toMatchObject({
      stderr: expect.stringContaining("'x' is not <code>, or its address"),
    });
  });

  test('are offered by the console', async () => {
    const script =
      "const { jobTypes } = await import('./src/contract/job-types.ts');" +
      "console.log(jobTypes.filter(({ market }) => market === 'mktg').map(({ kind }) => kind).join());";
    expect(await run('--input-type=module', '-e', script)).toBe('pdp_bulk,stock_check\n');
  });

  test('run in the demo, whose results have their fields', async () => {
    const output = await run('src/cli/main.ts', 'demo', '--market', 'mktg');
    expect(output).toMatch(/ok +mktg: product pages: 2 submitted, 0 failed, 4 credits/);
    expect(output).toMatch(/ok +mktg: stock: 2 submitted, 0 failed, 4 credits/);
  });

  test('pass the conformance suites', async () => {
    const suites = [
      'test/conformance/conformance.test.ts',
      'test/conformance/agreement.test.ts',
      'src/markets/listed-fields.test.ts',
    ];
    const titles = 'mktg|the tables hold|on every marketplace';
    const vitest = packaged('vitest/vitest.mjs');
    await run(
      vitest,
      'run',
      ...suites,
      '-t',
      titles,
      '--reporter=json',
      '--outputFile=report.json',
    );
    const report = JSON.parse(readFileSync(join(tree, 'report.json'), 'utf8'));
    expect(report.numFailedTests).toBe(0);
    expect(report.numPassedTests).toBeGreaterThan(60);
  }, 240_000);
});
