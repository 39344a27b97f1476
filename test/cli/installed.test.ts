import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, readdir, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
// @ts-expect-error: a plain script, which runs before there is a compiler.
import { isSetUp } from '../../deploy/setup.mjs';
import { freePort } from '../../src/app/demo/processes.ts';
import { root, run } from '../support/service.ts';
import { until } from '../support/until.ts';

let folder: string;
let installed: string;
const launch = () => join(installed, 'deploy', 'launch.mjs');
// Without a current installation, packing would run npm install while other tests use the packages.
const canPack = isSetUp() || process.env.CI;

/** Packs the project and unpacks it next to its dependencies, as npm installs it. */
async function install(): Promise<void> {
  const packages = join(folder, 'node_modules');
  installed = join(packages, 'gleaner');
  await mkdir(packages);
  for (const name of await readdir(join(root, 'node_modules')))
    if (!name.startsWith('.')) await symlink(join(root, 'node_modules', name), join(packages, name));
  const packed = await run('npm', ['pack', '--silent', '--pack-destination', folder]);
  if (packed.code !== 0) throw new Error(packed.stderr);
  const archive = (await readdir(folder)).find((name) => name.endsWith('.tgz'));
  await run('tar', ['-xzf', join(folder, archive!), '-C', folder]);
  await rename(join(folder, 'package'), installed);
}

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'gleaner-installed-'));
  if (canPack) await install();
});
afterAll(() => rm(folder, { recursive: true, force: true }));

describe('the packed package', () => {
  beforeEach((context) => {
    context.skip(!canPack, 'the npm packages are not those of package-lock.json: npm run setup');
  });

  test('holds no TypeScript but declarations', async () => {
    const files = await readdir(installed, { recursive: true });
    const sources = files.filter((name) => /\.[cm]?tsx?$/.test(name) && !/\.d\.ts$/.test(name));
    expect(sources.filter((name) => !name.startsWith('docs/examples/'))).toEqual([]);
    expect(files).toContain('dist/main.js.map');
  });

  test('holds no test, contract suite, or fixture', async () => {
    const files = await readdir(installed, { recursive: true });
    const patterns = [
      /(^|\/)(test|bench|fixture)(\/|$)/,
      /(^|\/)test\./,
      /\.test\./,
      /(store|queue|blobs)\/contract/,
    ];
    expect(files.filter((name) => patterns.some((pattern) => pattern.test(name)))).toEqual([]);
  });

  test('runs the command line and writes nothing of its own', async () => {
    const { code, stdout, stderr } = await run(process.execPath, [launch(), 'kinds', 'mktd']);
    expect([code, stderr]).toEqual([0, '']);
    expect(stdout).toMatch(/^mktd +pdp_bulk +product_id, country$/m);
    expect((await run(process.execPath, [launch(), 'jobs', '--nope'])).code).toBe(2);
  });

  test('serves the API, its documentation and the console', async () => {
    const port = await freePort();
    const environment = {
      GLEANER_HTTP_PORT: String(port),
      GLEANER_GRPC_PORT: '0',
      GLEANER_DATA_DIR: join(folder, 'data'),
    };
    const service = spawn(process.execPath, [launch(), 'serve'], {
      env: { PATH: process.env.PATH, ...environment },
      stdio: 'ignore',
    });
    const exited = once(service, 'exit');
    try {
      const statusOf = async (path: string) => (await fetch(`http://127.0.0.1:${port}${path}`)).status;
      const isReady = async () => (await statusOf('/ready')) === 200 || undefined;
      await until('the service is ready', isReady, { withinMs: 30_000 });
      for (const path of ['/openapi.json', '/docs', '/docs/scalar.js', '/console'])
        expect([path, await statusOf(path)]).toEqual([path, 200]);
    } finally {
      service.kill('SIGTERM');
    }
    expect(await exited).toEqual([0, null]);
  });

  test('runs jobs in worker processes: the demo passes', { timeout: 180_000 }, async () => {
    const demo = spawn(process.execPath, [launch(), 'demo'], { stdio: 'inherit' });
    expect(await once(demo, 'exit')).toEqual([0, null]);
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

test('builds the client for programs that cannot read TypeScript', async () => {
  const tsc = join(root, 'node_modules', '.bin', 'tsc');
  const into = join(folder, 'dist');
  const built = await run(tsc, ['-p', join(root, 'src/client/tsconfig.build.json'), '--outDir', into]);
  expect(built).toMatchObject({ code: 0, stdout: '' });
  const program = join(folder, 'program.mjs');
  await writeFile(
    program,
    `import { createGleanerClient, MktbService } from '${join(into, 'src/client/index.js')}';
     const gleaner = createGleanerClient({ url: 'http://127.0.0.1:9', apiKey: 'k', maxAttempts: 1 });
     await gleaner.submit(MktbService.method.submitPdpBulk, { items: [] }).catch(({ status }) => console.log(status));`,
  );
  expect(await run(process.execPath, [program])).toMatchObject({ code: 0, stdout: '0\n', stderr: '' });
  const declarations = await readdir(join(into, 'src', 'client'));
  expect(declarations).toContain('index.d.ts');
});
