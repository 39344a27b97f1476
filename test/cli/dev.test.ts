import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { poison, poisoned } from '../support/poison.ts';
import { root } from '../support/service.ts';

test('dev prints a request that is ready to run, and leaves no data when it is stopped', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'gleaner-dev-test-'));
  const child = spawn(process.execPath, [join(root, 'src/cli/main.ts'), 'dev', '--port', '0'], {
    cwd: folder,
    env: { PATH: process.env.PATH ?? '', HOME: folder, TMPDIR: folder, ...(await poison(folder)) },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const exited = once(child, 'exit');
  try {
    let out = '';
    for await (const chunk of child.stdout.setEncoding('utf8').iterator({ destroyOnReturn: false })) {
      out += chunk;
      if (out.includes('GLEANER_API_KEY=')) break;
    }
    const [submit, read] = [...out.matchAll(/^ +(curl .*)$/gm)].map(([, command]) => command!);
    const run = async (command: string) =>
      JSON.parse((await promisify(execFile)('sh', ['-c', command])).stdout);
    const { job_id: id, cost } = await run(submit!);
    expect(cost).toBe(0);
    expect(await run(read!.replace('<job_id>', id))).toMatchObject({ mode: 'test', status: 'completed' });
    child.kill('SIGINT');
    expect(await exited).toEqual([0, null]);
    expect((await readdir(folder)).toSorted()).toEqual(poisoned);
  } finally {
    child.kill('SIGKILL');
    await rm(folder, { recursive: true });
  }
});
