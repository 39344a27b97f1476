import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createPoster } from '../../src/fetch/post.ts';
import { newSecret, signed } from '../../src/notify/signature.ts';
import { freePort } from '../engines/nats.ts';
import { root } from '../support/service.ts';
import { until } from '../support/until.ts';

const page = readFileSync(join(root, 'docs/webhooks.md'), 'utf8');
const programOf = (language: string) =>
  new RegExp(`^\`\`\`${language}\\n([\\s\\S]*?)^\`\`\``, 'm').exec(page)![1]!;
const secret = newSecret();
const body = JSON.stringify({ type: 'job.ended', data: { job_id: 'job 1', reason: '☃' } });
const never = new AbortController().signal;
const patience = { withinMs: 20_000 };
const hasPython = spawnSync('python3', ['--version']).status === 0;

const languages = [
  { language: 'ts', command: process.execPath, there: true },
  { language: 'python', command: 'python3', there: hasPython },
];

describe.each(languages)(
  'the receiver in $language that the documentation shows',
  ({ language, command, there }) => {
    const folder = mkdtempSync(join(tmpdir(), 'gleaner-receiver-'));
    const poster = createPoster({ totalMs: 10_000 });
    let child: ChildProcess | undefined;
    let printed = '';
    let url: string;
    beforeAll(async () => {
      if (!there) return;
      const port = await freePort();
      url = `http://127.0.0.1:${port}/`;
      // Packages are found beside the program.
      symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'));
      writeFileSync(join(folder, 'package.json'), '{"type": "module"}');
      const file = join(folder, `receiver.${language}`);
      writeFileSync(file, programOf(language).replace('8000', String(port)));
      child = spawn(command, [file], {
        env: { PATH: process.env.PATH, WEBHOOK_SECRET: secret },
        stdio: ['ignore', 'pipe', 'ignore'],
      });
      child.stdout!.setEncoding('utf8').on('data', (text: string) => {
        printed += text;
      });
      await until('it listens', async () => ((await post({}, '')) > 0 ? true : undefined), patience);
    });
    afterAll(async () => {
      child?.kill();
      await poster.close();
      rmSync(folder, { recursive: true, force: true });
    });

    const post = async (headers: Record<string, string>, text: string) =>
      (await poster.post({ url, headers, body: text, guarded: false }, never)).status;
    const headersOf = (id: string, by = [secret], at = Date.now()) => signed(id, body, by, at);

    test.skipIf(!there)('takes what is signed, once, and nothing else', async () => {
      const id = randomUUID();
      expect(await post(headersOf(id), body)).toBe(204);
      expect(await post(headersOf(id), body)).toBe(204);
      expect(await post(headersOf(randomUUID(), [newSecret(), secret]), body)).toBe(204);
      expect(await post(headersOf(randomUUID(), [newSecret()]), body)).toBe(401);
      expect(await post(headersOf(randomUUID()), body.replace('job 1', 'job 2'))).toBe(401);
      expect(await post({ ...headersOf(id), 'webhook-id': randomUUID() }, body)).toBe(401);
      expect(await post(headersOf(randomUUID(), [secret], Date.now() - 3_600_000), body)).toBe(401);
      expect(await post({}, body)).toBe(401);
      const lines = await until(
        'both were printed',
        () => (printed.split('\n').length > 2 ? printed : undefined),
        patience,
      );
      expect(lines).toBe('job.ended job 1\njob.ended job 1\n');
    });
  },
);
