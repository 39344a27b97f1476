import { readFileSync } from 'node:fs';
import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openPlace, type Place } from '../../cli/place.ts';
import { findEngine } from '../../engines/missing.ts';
import type { TestUser } from '../../support/service/api.ts';
import { root } from '../../support/service/service.ts';
import { findPythonPackages, run } from './tools.ts';

const pandas = await findEngine(findPythonPackages('pandas-2.3.3', ['pandas==2.3.3']));
const timeoutMs = 240_000;

let place: Place;
let user: TestUser;
/** Empty folder, outside of the checkout. */
let folder: string;

beforeAll(async () => {
  place = await openPlace();
  user = await place.api.createUser(1_000);
}, timeoutMs);
afterAll(() => place?.close());
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'gleaner-printed-'));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

/** Returns the first code block of a page in a language that contains a text. */
function blockOf(page: string, language: string, text: string): string {
  const blocks = readFileSync(join(root, page), 'utf8').matchAll(/^```(\w*)\n(.*?)^```$/gms);
  const found = [...blocks].find(([, name, block]) => name === language && block!.includes(text));
  if (found === undefined) throw new Error(`${page} has no such block`);
  return found[2]!;
}

const settings = () => ({ GLEANER_URL: place.deployment.url, GLEANER_API_KEY: user.key });

describe('the example of a page runs in an empty folder as it is printed', () => {
  test(
    'docs/client.md',
    async () => {
      const cwd = await mkdtemp(join(folder, 'typescript-'));
      const built = await mkdtemp(join(folder, 'built-'));
      await run(
        process.execPath,
        [join(root, 'deploy/client-package.mjs'), join(built, 'client')],
        { cwd },
      );
      await run('npm', ['pack', '--silent', join(built, 'client')], { cwd: built });
      const install = blockOf('docs/client.md', '', 'npm pkg set');
      const env = {
        npm_config_prefer_offline: 'true',
        npm_config_audit: 'false',
        npm_config_fund: 'false',
      };
      await run('sh', ['-ec', install.replace('/path/to/checkout/dist', built)], { cwd, env });
      await writeFile(
        join(cwd, 'collect.ts'),
        blockOf('docs/client.md', 'ts', 'createGleanerClient'),
      );
      const { stderr } = await run(process.execPath, ['collect.ts'], { cwd, env: settings() });
      expect(stderr).toMatch(/^1\/1$/m);
      expect(await readdir(join(cwd, 'results'))).toEqual([
        expect.stringMatching(/^mktb_pdp_.*\.jsonl\.gz$/),
      ]);
    },
    timeoutMs,
  );

  test.skipIf('missing' in pandas)(
    'docs/python.md',
    async () => {
      if ('missing' in pandas) return;
      const cwd = await mkdtemp(join(folder, 'python-'));
      const program = blockOf('docs/python.md', 'python', 'to_frame(');
      await writeFile(join(cwd, 'collect.py'), program);
      const install = blockOf('docs/python.md', '', 'pip install')
        .replace('/path/to/checkout', root)
        // The packages of the tests have it.
        .replace('[pandas]', '');
      const env = { ...settings(), PYTHONPATH: pandas.folder, PIP_DISABLE_PIP_VERSION_CHECK: '1' };
      const { stdout } = await run('sh', ['-ec', `${install}python3 collect.py`], { cwd, env });
      expect(stdout).toMatch(/^completed 1 0$/m);
      expect(await readdir(join(cwd, 'results'))).toHaveLength(1);
    },
    timeoutMs,
  );
});
