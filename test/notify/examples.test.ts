import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { newSecret, signatureHeaders } from '../../src/notify/webhook.ts';
import { createPoster } from '../../src/outbound/post.ts';
import { freePort } from '../support/servers/ports.ts';
import { root } from '../support/service/service.ts';
import { until } from '../support/time/until.ts';

const page = readFileSync(join(root, 'docs/delivery.md'), 'utf8');
const programOf = (language: string) =>
  new RegExp(`^\`\`\`${language}\\n([\\s\\S]*?)^\`\`\``, 'm').exec(page)![1]!;
const secret = newSecret();
const body = JSON.stringify({ type: 'job.ended', data: { job_id: 'job 1', reason: '☃' } });
const never = new AbortController().signal;
const timeout = { withinMs: 20_000 };
const hasPython = spawnSync('python3', ['--version']).status === 0;

const languages = [
  { language: 'ts', command: process.execPath, isAvailable: true },
  { language: 'python', command: 'python3', isAvailable: hasPython },
];

describe.each(languages)(
  'the $language receiver of docs/delivery.md',
  ({ language, command, isAvailable }) => {
    const folder = mkdtempSync(join(tmpdir(), 'gleaner-receiver-'));
    const poster = createPoster({ totalMs: 10_000 });
    let child: ChildProcess | undefined;
    let printed = '';
    let url: string;
    beforeAll(async () => {
      if (!isAvailable) return;
      const port = await freePort();
      url = `http://127.0.0.1:${port}/`;
      // Node resolves packages relative to the program.
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
      await until(
        'the receiver listens',
        async () => ((await post({}, '')) > 0 ? true : undefined),
        timeout,
      );
    });
    afterAll(async () => {
      child?.kill();
      await poster.close();
      rmSync(folder, { recursive: true, force: true });
    });

    const post = async (headers: Record<string, string>, text: string) =>
      (await poster.post({ url, headers, body: text, guarded: false }, never)).status;
    const headersOf = (id: string, by = [secret], at = Date.now()) =>
      signatureHeaders(id, body, by, at);

    test.skipIf(!isAvailable)('accepts each signed message once and rejects others', async () => {
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
        'both messages are printed',
        () => (printed.split('\n').length > 2 ? printed : undefined),
        timeout,
      );
      expect(lines).toBe('job.ended job 1\njob.ended job 1\n');
    });
  },
);
