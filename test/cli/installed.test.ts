import { cp, mkdir, mkdtemp, readdir, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { root, run } from '../support/service.ts';

let folder: string;
let installed: string;

// As npm leaves us in somebody's project: our files without the lock, and the packages beside us.
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'gleaner-installed-'));
  const packages = join(folder, 'node_modules');
  installed = join(packages, 'gleaner');
  await mkdir(installed, { recursive: true });
  for (const name of await readdir(join(root, 'node_modules')))
    if (!name.startsWith('.')) await symlink(join(root, 'node_modules', name), join(packages, name));
  for (const part of ['src', 'gen', 'deploy', 'package.json'])
    await cp(join(root, part), join(installed, part), { recursive: true });
});
afterAll(() => rm(folder, { recursive: true, force: true }));

test('the command line runs where npm has installed it, and says nothing of its own', async () => {
  const launch = join(installed, 'deploy', 'launch.mjs');
  const { code, stdout, stderr } = await run(process.execPath, [launch, 'kinds', 'mktd']);
  expect([code, stderr]).toEqual([0, '']);
  expect(stdout).toMatch(/^mktd +pdp_bulk +product_id, country$/m);
  expect((await run(process.execPath, [launch, 'jobs', '--nope'])).code).toBe(2);
});

test('the client is built for programs that cannot read TypeScript', async () => {
  const tsc = join(root, 'node_modules', '.bin', 'tsc');
  const into = join(folder, 'dist');
  const built = await run(tsc, ['-p', join(root, 'src/client/tsconfig.build.json'), '--outDir', into]);
  expect(built).toMatchObject({ code: 0, stdout: '' });
  const program = join(folder, 'program.mjs');
  await writeFile(
    program,
    `import { createGleanerClient, MktbService } from '${join(into, 'src/client/index.js')}';
     const gleaner = createGleanerClient({ url: 'http://127.0.0.1:9', apiKey: 'k', tries: 1 });
     await gleaner.submit(MktbService.method.submitPdpBulk, { items: [] }).catch(({ status }) => console.log(status));`,
  );
  expect(await run(process.execPath, [program])).toMatchObject({ code: 0, stdout: '0\n', stderr: '' });
  const declarations = await readdir(join(into, 'src', 'client'));
  expect(declarations).toContain('index.d.ts');
});
