import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { poison, poisoned } from '../support/service/poison.ts';
import { compileCache, main, root } from '../support/service/service.ts';

const withoutTimes = (text: string) =>
  text.replaceAll('\r', '').replace(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, '<time>');

test('dev prints the first example of the README, which prints what the README shows, and leaves no data when it is stopped', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'gleaner-dev-test-'));
  const cache = { NODE_COMPILE_CACHE: compileCache };
  const child = spawn(process.execPath, [main, 'dev', '--port', '0'], {
    cwd: folder,
    env: {
      PATH: process.env.PATH ?? '',
      HOME: folder,
      TMPDIR: folder,
      ...cache,
      ...(await poison(folder)),
    },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const exited = once(child, 'exit');
  try {
    let out = '';
    for await (const chunk of child.stdout
      .setEncoding('utf8')
      .iterator({ destroyOnReturn: false })) {
      out += chunk;
      if (out.includes('GLEANER_API_KEY=')) break;
    }
    const [, variables, example] = /^ {2}(export URL=.*)\n((?: {2}.*\n)+)/m.exec(out)!;
    const readme = readFileSync(join(root, 'README.md'), 'utf8');
    const [, commands, printed] = /^```sh\n(.*?)^```\n```text\n(.*?)^```$/ms.exec(readme)!;
    expect(example!.replace(/^ {2}/gm, '')).toBe(commands);
    const { stdout } = await promisify(execFile)('sh', ['-c', `${variables}\n${commands}`]);
    expect(withoutTimes(stdout)).toBe(withoutTimes(printed!));
    expect(out).toMatch(
      /^ {2}Console +http:\/\/127\.0\.0\.1:\d+\/console#key=gl_test_\S+ as a user$/m,
    );
    const guide = await (await fetch(/^ {2}(http:.*\/docs\/guide\/.*)$/m.exec(out)![1]!)).text();
    expect(guide).toContain('id="see-a-price-change-and-a-rule-that-fires"');
    expect(out).toMatch(/^ {2}gRPC +http:\/\/127\.0\.0\.1:[1-9]\d*, without TLS$/m);
    expect(out).toMatch(/\/console#key=dev-\S+ as an operator$/m);
    const [, url, key] = /URL=(\S+) KEY=(\S+)/.exec(variables!)!;
    const webhook = await fetch(`${url}/v1/account/webhook`, {
      method: 'PUT',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body: JSON.stringify({ url: 'http://127.0.0.1:8000/' }),
    });
    expect(webhook.status).toBe(200);
    child.kill('SIGINT');
    expect(await exited).toEqual([0, null]);
    expect((await readdir(folder)).toSorted()).toEqual(poisoned);
  } finally {
    child.kill('SIGKILL');
    await rm(folder, { recursive: true });
  }
});
