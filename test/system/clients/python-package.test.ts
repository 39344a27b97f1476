import { readFileSync } from 'node:fs';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type OpenApi, openApiDocument } from '../../../deploy/openapi-document.ts';
import { pythonModels, pythonOperations } from '../../../deploy/python-models.ts';
import manifest from '../../../package.json' with { type: 'json' };
import { findEngine } from '../../engines/missing.ts';
import { openSandboxFixture, type SandboxFixture } from '../../sandbox/fixture.ts';
import { type Engines, embedded } from '../../support/engines/engines.ts';
import { root } from '../../support/service/service.ts';
import { findPythonPackages, run } from './tools.ts';

const packageFolder = join(root, 'clients/python');
const [pandas, build, grpc] = await Promise.all([
  findEngine(findPythonPackages('pandas-2.3.3', ['pandas==2.3.3'])),
  findEngine(
    findPythonPackages('python-build-1.3.0', [
      'build==1.3.0',
      'setuptools==80.9.0',
      'wheel==0.45.1',
    ]),
  ),
  findEngine(findPythonPackages('grpcio-tools-1.76.0', ['grpcio-tools==1.76.0'])),
]);
const timeoutMs = 240_000;

describe('generated files', () => {
  let document: OpenApi;
  beforeAll(async () => {
    document = await openApiDocument();
  });
  const read = (path: string) => readFileSync(join(root, path), 'utf8');

  test('the types and operations of the Python package are current', () => {
    expect(read('clients/python/gleaner/generated/models.py')).toBe(pythonModels(document));
    expect(read('clients/python/gleaner/generated/operations.py')).toBe(pythonOperations(document));
  });

  test('the version of the package is that of the service', () => {
    expect(read('clients/python/pyproject.toml')).toContain(`\nversion = "${manifest.version}"\n`);
  });
});

describe('the Python package', () => {
  let fixture: SandboxFixture;
  let folder: string;
  beforeAll(async () => {
    fixture = await openSandboxFixture(false, (await embedded.open()) as Engines);
    folder = await mkdtemp(join(tmpdir(), 'gleaner-python-'));
  }, timeoutMs);
  afterAll(async () => {
    await fixture?.stop();
    if (folder) await rm(folder, { recursive: true, force: true });
  });

  const runTests = (path: string, more: Record<string, string> = {}) =>
    run('python3', ['-W', 'error', join(root, 'test/system/clients/python/package_test.py')], {
      cwd: folder,
      env: {
        GLEANER_URL: fixture.deployment.url,
        GLEANER_API_KEY: fixture.tester.key,
        PYTHONPATH: path,
        PYTHONDONTWRITEBYTECODE: '1',
        ...more,
      },
    });

  test(
    'keeps the key from other origins, and resumes interrupted downloads',
    async () => {
      await run(
        'python3',
        ['-W', 'error', join(root, 'test/system/clients/python/transfer_test.py')],
        {
          cwd: folder,
          env: { PYTHONPATH: packageFolder, PYTHONDONTWRITEBYTECODE: '1' },
        },
      );
    },
    timeoutMs,
  );

  test(
    'submits, waits, reads, and downloads, and reports errors',
    async () => {
      const { stdout } = await runTests(packageFolder);
      expect(JSON.parse(stdout)).toMatchObject({
        status: 'partial_complete',
        records: 2,
        files: 1,
      });
    },
    timeoutMs,
  );

  test.skipIf('missing' in pandas)(
    'makes data frames',
    async () => {
      if ('missing' in pandas) return;
      const { stdout } = await runTests(`${packageFolder}:${pandas.folder}`, { WITH_PANDAS: '1' });
      expect(JSON.parse(stdout).columns).toEqual(expect.arrayContaining(['key', 'region']));
    },
    timeoutMs,
  );

  test.skipIf('missing' in grpc)(
    'is used beside code that is generated from the contract, as the documentation generates it',
    async () => {
      if ('missing' in grpc) return;
      const cwd = join(folder, 'generated');
      const page = readFileSync(join(root, 'docs/grpc.md'), 'utf8');
      const buf = join(root, 'node_modules/.bin/buf');
      await run(buf, ['export', 'proto', '--output', join(cwd, 'dist/protos')], { cwd: root });
      const command = /`(python3 -m grpc_tools\.protoc [^`]+)`/.exec(page)![1]!;
      await run('sh', ['-c', command], { cwd, env: { PYTHONPATH: grpc.folder } });
      const program = [
        'from gleaner.account.v1 import account_pb2, account_pb2_grpc',
        'from gleaner import Client',
        'print(account_pb2.GetAccountRequest.DESCRIPTOR.full_name, Client.__module__)',
      ];
      // The folder of a program comes before the installed packages.
      for (const path of [
        [cwd, packageFolder],
        [packageFolder, cwd],
      ]) {
        const env = { PYTHONPATH: [...path, grpc.folder].join(':'), PYTHONDONTWRITEBYTECODE: '1' };
        const { stdout } = await run('python3', ['-c', program.join('\n')], { cwd, env });
        expect(stdout).toBe('gleaner.account.v1.GetAccountRequest gleaner.client\n');
      }
    },
    timeoutMs,
  );

  test.skipIf('missing' in build)(
    'is built as a source distribution and a wheel that works',
    async () => {
      if ('missing' in build) return;
      const env = { PYTHONPATH: build.folder };
      const source = join(folder, 'source');
      await run('cp', ['-r', packageFolder, source], { cwd: folder });
      await run(
        'python3',
        ['-m', 'build', '--no-isolation', '--outdir', join(folder, 'dist'), source],
        {
          cwd: folder,
          env,
        },
      );
      const built = (await readdir(join(folder, 'dist'))).sort();
      const name = `gleaner_client-${manifest.version}`;
      expect(built).toEqual([`${name}-py3-none-any.whl`, `${name}.tar.gz`]);
      // A wheel is an archive that Python can import.
      const { stdout } = await runTests(join(folder, 'dist', built[0]!));
      expect(JSON.parse(stdout).status).toBe('partial_complete');
    },
    timeoutMs,
  );
});
