import { execFile, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { TestUser } from '../support/service/api.ts';
import { root } from '../support/service/service.ts';
import { openPlace, type Place } from './place.ts';

let place: Place;
let user: TestUser;

beforeAll(async () => {
  place = await openPlace();
  user = await place.api.createUser(1_000);
});
afterAll(() => place?.close());

/** Runs a program in the user's folder with the user's settings. */
function run(program: string, parameters: string[], key = user.key) {
  const env = { PATH: process.env.PATH, GLEANER_URL: place.deployment.url, GLEANER_API_KEY: key };
  return new Promise<{ code: number; stdout: string; stderr: string }>((resolve) => {
    execFile(
      program,
      parameters,
      { cwd: place.folder, env, timeout: 50_000 },
      (error, stdout, stderr) =>
        resolve({ code: error === null ? 0 : Number(error.code), stdout, stderr }),
    );
  });
}

/** Returns the lines of the only result file in a folder. */
async function records(folder: string) {
  const names = await readdir(folder);
  expect(names).toHaveLength(1);
  const bytes = await readFile(join(folder, names[0]!));
  const lines = gunzipSync(bytes).toString('utf8').trimEnd().split('\n');
  return { bytes, lines: lines.map((line) => JSON.parse(line)) };
}

const typescript = join(root, 'docs/examples/typescript/gleaner-example.ts');
const python = join(root, 'docs/examples/python/gleaner_example.py');
const hasPython = spawnSync('python3', ['--version']).status === 0;
const pythonTest = hasPython ? test : test.skip;
if (!hasPython) console.warn('python3 is not on PATH: the Python example is not run');

test('the TypeScript example submits, waits, downloads, and prints failed units', async () => {
  const { code, stdout, stderr } = await run(process.execPath, [
    typescript,
    'toko-7/barang-1001',
    'toko-7/barang-1800',
  ]);
  expect(stderr).toContain('partial_complete: 1 done, 1 failed, 2 in all');
  expect(stderr).toContain('barang-1800: page_not_found, ');
  expect(code).toBe(1);
  const { bytes, lines } = await records(join(place.folder, 'results'));
  expect(lines.map(({ product_key }) => product_key)).toContain('barang-1001');
  expect(stdout).toContain(createHash('sha256').update(bytes).digest('hex'));
});

test('the TypeScript example prints errors of the service', async () => {
  const { code, stderr } = await run(process.execPath, [typescript, 'toko-7/']);
  expect([code, stderr]).toEqual([1, '422: items[0].product_key: Field required\n']);
});

pythonTest('the Python example submits, waits, downloads and checks', async () => {
  const body = join(place.folder, 'body.json');
  await writeFile(
    body,
    JSON.stringify({ items: [{ shop_domain: 'toko-7', product_key: 'barang-1003' }] }),
  );
  const parameters = [python, 'submitMktbPdpBulk', body, 'by-python'];
  const { code, stdout, stderr } = await run('python3', parameters);
  expect(stderr).toContain('completed: 1 done, 0 failed, 1 in all');
  expect(code).toBe(0);
  const { lines } = await records(join(place.folder, 'by-python'));
  expect(lines.map(({ product_key }) => product_key)).toEqual(['barang-1003']);
  expect(stdout).toMatch(/^by-python\/.+\.jsonl\.gz\n$/);
});

pythonTest('the Python example says what the service refuses', async () => {
  const body = join(place.folder, 'bad.json');
  await writeFile(body, '{"items": []}');
  const parameters = [python, 'submitMktbPdpBulk', body, 'out'];
  const { code, stderr } = await run('python3', parameters);
  expect(code).toBe(1);
  expect(stderr).toContain('422: body.items: List should have at least 1 item');
  expect((await run('python3', parameters, 'gl_nobody')).stderr).toContain('401: ');
});
