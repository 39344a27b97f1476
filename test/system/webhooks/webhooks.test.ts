import { cp, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { newSecret, secretsOf, signatureHeaders } from '../../../src/notify/webhook.ts';
import { findEngine } from '../../engines/missing.ts';
import { root } from '../../support/service/service.ts';
import { findGo, findPythonPackages, run } from '../clients/tools.ts';

const here = join(root, 'test/system/webhooks');
const [python, go] = await Promise.all([
  findEngine(findPythonPackages('standardwebhooks-1.1.0', ['standardwebhooks==1.1.0'])),
  findEngine(findGo()),
]);
const timeoutMs = 240_000;

const now = Date.now();
const [secret, previousSecret] = [newSecret(), newSecret()];
const rotated = secretsOf(
  {
    userId: 'u',
    url: '',
    enabled: true,
    secret,
    previousSecret,
    previousUntil: now + 1,
    updatedAt: now,
    revision: 1,
  },
  now,
);
const body = JSON.stringify({
  type: 'job.ended',
  data: { name: 'Lamp “öä” \u2028 🪔', path: 'a/b\\c' },
});
const sent = (text: string, at = now) => ({
  body: text,
  headers: signatureHeaders('msg_1', text, rotated, at),
});

/** Messages with the secret of their receiver, and whether they are genuine. */
const cases = [
  { secret, ...sent(body), genuine: true },
  { secret: previousSecret, ...sent(body), genuine: true },
  { secret: newSecret(), ...sent(body), genuine: false },
  { secret, ...sent(body), body: `${body} `, genuine: false },
  { secret, ...sent(body, now - 3_600_000), genuine: false },
  { secret, ...sent(body, now + 3_600_000), genuine: false },
];
const expected = cases.map(({ genuine }) => genuine);

let folder: string;
let messages: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'gleaner-webhooks-'));
  messages = join(folder, 'messages.json');
  await writeFile(messages, JSON.stringify(cases.map(({ genuine: _, ...message }) => message)));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

describe('messages are verified', () => {
  test.skipIf('missing' in python)(
    'by the library for Python',
    async () => {
      if ('missing' in python) return;
      const env = { PYTHONPATH: python.folder, PYTHONDONTWRITEBYTECODE: '1' };
      const { stdout } = await run('python3', [join(here, 'verify.py'), messages], {
        cwd: folder,
        env,
      });
      expect(JSON.parse(stdout)).toEqual(expected);
    },
    timeoutMs,
  );

  test.skipIf('missing' in go)(
    'by the library for Go',
    async () => {
      const source = join(folder, 'go');
      await cp(join(here, 'go'), source, { recursive: true });
      const { stdout } = await run('go', ['run', '.', messages], { cwd: source });
      expect(JSON.parse(stdout)).toEqual(expected);
    },
    timeoutMs,
  );
});
