import {
  cpSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
// @ts-expect-error: a plain script, which runs before there is a compiler.
import { fetchPackageFile, packageFiles } from '../../deploy/package-files.mjs';
import { type CommandResult, root, run } from '../support/service/service.ts';

/** Limit of installations, which download packages. */
const installMs = 300_000;
const excluded =
  /(?:^|\/)(?:\.git|\.cache|\.gleaner|node_modules|dist(?:-\d+)?|\.program-\d+)(?:\/|$)/;

/** Copy of the project in which nothing is installed. */
let checkout: string;
beforeAll(() => {
  checkout = mkdtempSync(join(tmpdir(), 'gleaner-checkout-'));
  const filter = (path: string) => !excluded.test(relative(root, path));
  cpSync(root, checkout, { recursive: true, filter });
});
afterAll(() => rmSync(checkout, { recursive: true, force: true }));

/** Certificates of the package registry, where Node does not know them. */
const { NODE_EXTRA_CA_CERTS: certificates } = process.env;
const environment = certificates === undefined ? {} : { NODE_EXTRA_CA_CERTS: certificates };

const launch = (script: string, ...parameters: string[]): Promise<CommandResult> =>
  run(
    process.execPath,
    [join(checkout, 'deploy', script), ...parameters],
    environment,
    checkout,
    installMs,
  );
const manifestOf = (path: string) =>
  JSON.parse(readFileSync(join(checkout, path), 'utf8')) as Record<string, Record<string, string>>;

describe('a checkout in which nothing is installed', { timeout: 2 * installMs }, () => {
  test('installs the packages of the service only before its first command', async () => {
    const { code, stdout, stderr } = await launch('launch.mjs', '--version');
    expect([code, stdout.trim()]).toEqual([0, manifestOf('package.json').version]);
    expect(stderr).toMatch(/^Setting up: \d+ packages of the service \(about \d+ MB\)/);
    expect(stderr).toMatch(/installed in \d+ s\.\n$/);
    const installed = (name: string) => existsSync(join(checkout, 'node_modules', name));
    const { dependencies = {}, devDependencies = {} } = manifestOf('package.json');
    expect(Object.keys(dependencies).filter((name) => !installed(name))).toEqual([]);
    // The service's own packages need it, too.
    const shared = ['@opentelemetry/semantic-conventions'];
    expect(Object.keys(devDependencies).filter(installed)).toEqual(shared);
    expect(existsSync(join(checkout, 'console/node_modules'))).toBe(false);
    // The build of the console would go on after the help.
    expect(await launch('launch.mjs', 'dev', '--help')).toMatchObject({ code: 0, stderr: '' });
  });

  test('is set up by two processes that start at the same time, and then says that it is ready', async () => {
    const both = await Promise.all([launch('setup.mjs'), launch('setup.mjs')]);
    expect(both.map(({ code, stderr }) => (code === 0 ? 0 : stderr))).toEqual([0, 0]);
    const builds = both.map(({ stderr }) => /building the console/.test(stderr));
    expect(builds.toSorted()).toEqual([false, true]);
    const dist = readdirSync(join(checkout, 'console/dist'), { recursive: true });
    expect(dist).toContain('index.html');
    expect(dist).toContain('reference/scalar.js');
    // The packages of the build are larger than the service.
    expect(existsSync(join(checkout, 'console/node_modules'))).toBe(false);
    expect(await launch('setup.mjs')).toEqual({
      code: 0,
      stdout: '',
      stderr: 'Setting up: everything is installed and built.\n',
    });
  });

  test('runs without a new console if the packages of its build cannot be installed', async () => {
    writeFileSync(join(checkout, 'console/src/added.ts'), 'export {};\n');
    const broken = {
      npm_config_registry: 'http://127.0.0.1:9',
      npm_config_fetch_retries: '0',
      npm_config_cache: join(checkout, 'empty'),
    };
    const setUp = [join(checkout, 'deploy/console.mjs')];
    const { code, stderr } = await run(process.execPath, setUp, broken, checkout, installMs);
    expect([code, stderr]).toEqual([1, expect.stringContaining('All else works without it.')]);
    expect(existsSync(join(checkout, 'console/dist/index.html'))).toBe(true);
    rmSync(join(checkout, 'console/src/added.ts'));
  });

  test('replaces the lock of a process that was killed', async () => {
    writeFileSync(join(checkout, '.cache/setup.pid'), '999999999');
    expect((await launch('launch.mjs', '--version')).code).toBe(0);
    expect(existsSync(join(checkout, '.cache/setup.pid'))).toBe(false);
  });
});

test('fetchPackageFile() rejects a package with another digest', {
  timeout: installMs,
}, async () => {
  const target = join(checkout, 'fetched/scalar.js');
  const file = { ...packageFiles.renderer, integrity: 'sha512-of-another-package' };
  await expect(fetchPackageFile(file, target)).rejects.toThrow(
    /has digest sha512-.*, not sha512-of-another/,
  );
  expect(existsSync(target)).toBe(false);
});
