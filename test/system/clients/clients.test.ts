import { cp, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openPlace, type Place } from '../../cli/place.ts';
import { findEngine } from '../../engines/missing.ts';
import type { TestUser } from '../../support/service/api.ts';
import { root } from '../../support/service/service.ts';
import { findGo, findPythonGenerator, findTypescriptGenerator, run } from './tools.ts';

const [python, typescript, go] = await Promise.all([
  findEngine(findPythonGenerator()),
  findEngine(findTypescriptGenerator()),
  findEngine(findGo()),
]);
const timeoutMs = 600_000;
const oneDone = { success: 1, total: 1 };

let place: Place;
let user: TestUser;
/** Folder inside of the checkout, where Node programs resolve the packages of the checkout. */
let folder: string;
let document: string;

beforeAll(async () => {
  place = await openPlace();
  user = await place.api.createUser(1_000);
  folder = await mkdtemp(join(root, '.cache/clients-'));
  document = join(folder, 'openapi.json');
  await writeFile(document, await (await fetch(`${place.deployment.url}/openapi.json`)).text());
}, timeoutMs);
afterAll(async () => {
  await place?.close();
  if (folder) await rm(folder, { recursive: true, force: true });
});

const access = () => ({ GLEANER_URL: place.deployment.url, GLEANER_API_KEY: user.key });

describe('a client generated from the contract runs a job', () => {
  test.skipIf('missing' in python)(
    'in Python, by openapi-python-client',
    async () => {
      if ('missing' in python) return;
      const own = join(root, 'test/system/clients/python');
      const cwd = await mkdtemp(join(folder, 'python-'));
      const env = {
        ...access(),
        PYTHONPATH: `${python.folder}:${cwd}`,
        PYTHONDONTWRITEBYTECODE: '1',
      };
      const output = [
        '--meta',
        'none',
        '--output-path',
        'gleaner_client',
        '--config',
        join(own, 'config.yaml'),
      ];
      const generate = ['-m', 'openapi_python_client', 'generate', '--path', document, ...output];
      const { stderr } = await run('python3', generate, { cwd, env });
      expect(warnings(stderr)).toEqual([
        'GET /v1/files/{job_id}/{name}',
        'GET /v1/files/{job_id}/{name}',
      ]);
      const ran = await run('python3', [join(own, 'run_job.py')], { cwd, env });
      expect(JSON.parse(ran.stdout)).toEqual(oneDone);
    },
    timeoutMs,
  );

  test.skipIf('missing' in typescript)(
    'in TypeScript, by @hey-api/openapi-ts, with types that fit',
    async () => {
      if ('missing' in typescript) return;
      const cwd = await mkdtemp(join(folder, 'typescript-'));
      const settings = {
        input: document,
        output: { path: join(cwd, 'generated'), tsConfigPath: null, module: { extension: '.ts' } },
        logs: { level: 'silent', file: false },
        plugins: ['@hey-api/client-fetch', '@hey-api/typescript', '@hey-api/sdk'],
      };
      await writeFile(
        join(cwd, 'openapi-ts.config.mjs'),
        `export default ${JSON.stringify(settings)};`,
      );
      const bin = join(typescript.folder, 'node_modules/.bin');
      await run(join(bin, 'openapi-ts'), ['--file', 'openapi-ts.config.mjs'], { cwd });
      await cp(join(root, 'test/system/clients/typescript/run-job.ts'), join(cwd, 'run-job.ts'));
      const types = ['--types', 'node', '--typeRoots', join(root, 'node_modules/@types')];
      const options = [
        '--noEmit',
        '--strict',
        '--skipLibCheck',
        '--allowImportingTsExtensions',
        ...types,
      ];
      const target = [
        '--module',
        'nodenext',
        '--target',
        'esnext',
        '--lib',
        'esnext,dom,dom.iterable',
      ];
      await run(join(bin, 'tsc'), [...options, ...target, 'run-job.ts'], { cwd });
      const ran = await run(process.execPath, ['run-job.ts'], { cwd, env: access() });
      expect(JSON.parse(ran.stdout)).toEqual(oneDone);
    },
    timeoutMs,
  );

  test.skipIf('missing' in go)(
    'in Go, by protoc-gen-go and protoc-gen-connect-go',
    async () => {
      if ('missing' in go) return;
      const cwd = join(folder, 'go');
      await cp(go.folder, cwd, { recursive: true });
      const buf = join(root, 'node_modules/.bin/buf');
      const generate = [
        'generate',
        'proto',
        '--template',
        join(go.folder, 'buf.gen.yaml'),
        '--output',
        cwd,
      ];
      await run(buf, generate, { cwd: root });
      const ran = await run('go', ['run', '.'], {
        cwd,
        env: { ...access(), GOFLAGS: '-mod=readonly' },
      });
      expect(JSON.parse(ran.stdout)).toEqual(oneDone);
    },
    timeoutMs,
  );
});

/** Returns the operations that the generator of Python clients warns of. */
function warnings(output: string): string[] {
  return Array.from(
    output.matchAll(/^WARNING parsing (.+) within/gm),
    ([, operation]) => operation!,
  );
}
