import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
// @ts-expect-error: a plain script, which runs before there is a compiler.
import { isSetUp } from '../../deploy/install.mjs';
import { freePort } from '../support/servers/ports.ts';
import { root, run } from '../support/service/service.ts';
import { until } from '../support/time/until.ts';

/** Parts of a package.json that the tests read. */
interface Manifest {
  version: string;
  engines: Record<string, string>;
  scripts?: Record<string, string>;
  dependencies: Record<string, string>;
  private?: boolean;
}

/** Limit of packing and installing, which download packages. */
const installMs = 300_000;

let folder: string;
/** Empty project that both packages are installed in. */
let project: string;
let missing = '';
const installed = () => join(project, 'node_modules/gleaner');
const client = () => join(project, 'node_modules/@gleaner/client');
const main = () => join(installed(), 'dist/main.js');
const manifestOf = async (at: string) =>
  JSON.parse(await readFile(join(at, 'package.json'), 'utf8')) as Manifest;

async function succeed(command: string, parameters: string[], cwd = root): Promise<void> {
  const { code, stdout, stderr } = await run(command, parameters, {}, cwd, installMs);
  if (code !== 0) throw new Error(`${command} ${parameters.join(' ')}: ${stderr || stdout}`);
}

/** Packs both packages and installs them in an empty project, without install scripts. */
async function install(): Promise<void> {
  await succeed('npm', ['pack', '--silent', '--pack-destination', folder]);
  await succeed(process.execPath, [
    join(root, 'deploy/client-package.mjs'),
    join(folder, 'client'),
  ]);
  await succeed('npm', ['pack', '--silent', '--pack-destination', folder, join(folder, 'client')]);
  const archives = (await readdir(folder)).filter((name) => name.endsWith('.tgz'));
  await mkdir(project);
  await writeFile(join(project, 'package.json'), '{ "private": true, "type": "module" }');
  // The versions of the lock file: npm would otherwise load the list of versions of every package.
  const lock = JSON.parse(await readFile(join(root, 'package-lock.json'), 'utf8'));
  lock.packages[''] = {};
  await writeFile(join(project, 'package-lock.json'), JSON.stringify(lock));
  const options = ['--ignore-scripts', '--prefer-offline', '--no-audit', '--no-fund'];
  await succeed(
    'npm',
    ['install', ...options, ...archives.map((name) => join(folder, name))],
    project,
  );
}

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'gleaner-installed-'));
  project = join(folder, 'project');
  // Without a current installation, packing would run npm install while other tests use the
  // packages.
  if (!isSetUp({ all: true }) && !process.env.CI)
    missing = 'the npm packages are not those of package-lock.json: npm run setup -- --all';
  else
    await install().catch((error: Error) => {
      if (process.env.CI) throw error;
      missing = `the packages can't be installed: ${error.message}`;
    });
}, 2 * installMs);
afterAll(() => rm(folder, { recursive: true, force: true }));
beforeEach((context) => context.skip(missing !== '', missing));

describe('the package gleaner', () => {
  test('needs Node 24 and runs no script when it is installed', async () => {
    const { engines, scripts = {}, private: isPrivate } = await manifestOf(installed());
    expect([engines, isPrivate]).toEqual([{ node: '>=24.12' }, undefined]);
    for (const name of ['preinstall', 'install', 'postinstall', 'prepare'])
      expect(scripts).not.toHaveProperty(name);
    const { packages } = JSON.parse(await readFile(join(project, 'package-lock.json'), 'utf8')) as {
      packages: Record<string, { hasInstallScript?: boolean; optional?: boolean }>;
    };
    expect(Object.keys(packages).length).toBeGreaterThan(100);
    expect(Object.keys(packages).filter((name) => packages[name]!.hasInstallScript)).toEqual([]);
  });

  test('names the version of Node that it needs', async () => {
    const older = `Object.defineProperty(process, 'versions', { value: { ...process.versions, node: '24.11.1' } })`;
    const asOlder = ['--import', `data:text/javascript,${encodeURIComponent(older)}`];
    const { code, stderr } = await run(process.execPath, [...asOlder, main(), 'config', 'show']);
    expect([code, stderr]).toEqual([
      1,
      expect.stringContaining('Gleaner needs Node 24.12 or newer'),
    ]);
  });

  test('says that local engines need a checkout', async () => {
    const { code, stderr } = await run(process.execPath, [main(), 'engines']);
    expect([code, stderr]).toEqual([
      2,
      'gleaner: Local engines are available only in a checkout. Set MONGODB_URI and NATS_URL.\n',
    ]);
  });

  test('holds no TypeScript but declarations', async () => {
    const files = await readdir(installed(), { recursive: true });
    const sources = files.filter((name) => /\.[cm]?tsx?$/.test(name) && !/\.d\.ts$/.test(name));
    expect(sources.filter((name) => !name.startsWith('docs/examples/'))).toEqual([]);
    expect(files).toContain('dist/main.js.map');
  });

  test('holds no test, contract suite, or fixture', async () => {
    const files = await readdir(installed(), { recursive: true });
    const patterns = [
      /(^|\/)(test|bench|fixture)(\/|$)/,
      /(^|\/)test\./,
      /\.test\./,
      /(store|queue|blobs)\/contract/,
      /src\/clients/,
    ];
    expect(files.filter((name) => patterns.some((pattern) => pattern.test(name)))).toEqual([]);
  });

  test('has Latin-1 source texts, without modules that only take memory', async () => {
    const dist = join(installed(), 'dist');
    const names = (await readdir(dist)).filter((name) => name.endsWith('.js'));
    const texts = await Promise.all(names.map((name) => readFile(join(dist, name), 'utf8')));
    const found = (pattern: RegExp) => names.filter((_, index) => pattern.test(texts[index]!));
    expect(found(/[\u0100-\uffff]/)).toEqual([]);
    expect(found(/cp936/)).toEqual([]);
    // Node would load the fetch API for it.
    expect(found(/^import .* from "(?:node:)?http";$/m)).toEqual([]);
  });

  test('runs the command line without output of the package itself', async () => {
    const words = ['complete', '--', 'job', 'submit', 'mktd', ''];
    const { code, stdout, stderr } = await run(process.execPath, [main(), ...words]);
    expect([code, stderr]).toEqual([0, '']);
    expect(stdout).toMatch(/^pdp_bulk\t/m);
    expect((await run(process.execPath, [main(), 'job', 'list', '--nope'])).code).toBe(2);
    expect((await run(join(project, 'node_modules/.bin/gleaner'), ['--version'])).code).toBe(0);
  });

  test('keeps compiled code in the cache folder of the user', async () => {
    const cache = join(folder, 'cache');
    const environment = { NODE_COMPILE_CACHE: '', XDG_CACHE_HOME: cache };
    expect((await run(process.execPath, [main(), '--version'], environment)).code).toBe(0);
    expect(await readdir(join(cache, 'gleaner', 'compiled'))).toHaveLength(1);
    const nowhere = { ...environment, XDG_CACHE_HOME: main() };
    expect(await run(process.execPath, [main(), '--version'], nowhere)).toMatchObject({
      code: 0,
      stderr: '',
    });
  });

  test('serves the API, its documentation and the console, and the installed client calls it', async () => {
    const port = await freePort();
    const operatorKey = 'operator-of-the-test';
    const environment = {
      GLEANER_HTTP_PORT: String(port),
      GLEANER_GRPC_PORT: '0',
      GLEANER_OPS_PORT: 'off',
      GLEANER_DATA_DIR: join(folder, 'data'),
      GLEANER_OPERATOR_KEY: operatorKey,
    };
    const service = spawn(process.execPath, [main(), 'serve'], {
      env: { PATH: process.env.PATH, ...environment },
      stdio: 'ignore',
    });
    const exited = once(service, 'exit');
    const url = `http://127.0.0.1:${port}`;
    try {
      const statusOf = async (path: string) => (await fetch(`${url}${path}`)).status;
      const isReady = async () => (await statusOf('/ready')) === 200 || undefined;
      await until('the service is ready', isReady, { withinMs: 30_000 });
      for (const path of [
        '/openapi.json',
        '/docs',
        '/docs/guide/jobs',
        '/docs/scalar.js',
        '/console',
      ])
        expect([path, await statusOf(path)]).toEqual([path, 200]);
      const program = join(project, 'call.mjs');
      await writeFile(
        program,
        `import { createGleanerClient, OperatorService } from '@gleaner/client';
         const gleaner = createGleanerClient({ url: '${url}', apiKey: '${operatorKey}' });
         const { user } = await gleaner.call(OperatorService.method.createUser, { name: 'Maria' });
         console.log(user.name);`,
      );
      expect(await run(process.execPath, [program])).toEqual({
        code: 0,
        stdout: 'Maria\n',
        stderr: '',
      });
    } finally {
      service.kill('SIGTERM');
    }
    expect(await exited).toEqual([0, null]);
  });

  test('runs jobs in worker processes: the demo passes', async () => {
    const demo = spawn(process.execPath, [main(), 'demo'], { stdio: 'inherit' });
    expect(await once(demo, 'exit')).toEqual([0, null]);
  });
});

describe('the package @gleaner/client', () => {
  test('has the version of the service and few dependencies', async () => {
    const { version, dependencies, scripts } = await manifestOf(client());
    expect([version, scripts]).toEqual([(await manifestOf(root)).version, undefined]);
    expect(Object.keys(dependencies)).toEqual([
      '@bufbuild/protobuf',
      '@connectrpc/connect',
      '@connectrpc/connect-web',
    ]);
  });

  test('has types', async () => {
    const program = (item: string) =>
      `import { createGleanerClient, MktbService } from '@gleaner/client';
       const gleaner = createGleanerClient({ url: 'http://127.0.0.1:9', apiKey: 'k' });
       const { jobId } = await gleaner.submit(MktbService.method.submitPdpBulk, { items: [${item}] });
       export const id: string = jobId;`;
    await writeFile(
      join(project, 'right.ts'),
      program("{ shopDomain: 'toko-7', productKey: 'barang-1' }"),
    );
    await writeFile(join(project, 'wrong.ts'), program('{ shopDomain: 7 }'));
    const options = ['--strict', '--noEmit', '--module', 'nodenext', '--target', 'es2022'];
    const compile = (name: string) =>
      run(join(root, 'node_modules/.bin/tsc'), [...options, name], {}, project);
    expect(await compile('right.ts')).toMatchObject({ code: 0, stdout: '' });
    expect((await compile('wrong.ts')).stdout).toContain(
      "Type 'number' is not assignable to type 'string",
    );
  });
});

test('builds the gateway as a package that contains only itself and the contract', async () => {
  const tsc = join(root, 'node_modules', '.bin', 'tsc');
  const into = join(folder, 'gateway');
  const built = await run(tsc, ['-p', join(root, 'gateway/tsconfig.build.json'), '--outDir', into]);
  expect(built).toMatchObject({ code: 0, stdout: '' });
  expect((await readdir(into)).toSorted()).toEqual(['gateway', 'gen', 'src']);
  expect(await readdir(join(into, 'src'))).toEqual(['contract']);
});
