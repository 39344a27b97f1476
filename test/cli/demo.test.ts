import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { poison } from '../support/service/poison.ts';
import { root } from '../support/service/service.ts';

test('demo --keep repeats a job by a schedule, and leaves the service running with keys that sign in', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'gleaner-demo-'));
  const child = spawn(
    process.execPath,
    [join(root, 'src/cli/main.ts'), 'demo', '--keep', '--market', 'mktd'],
    {
      cwd: folder,
      env: { PATH: process.env.PATH ?? '', HOME: folder, ...(await poison(folder)) },
      stdio: ['ignore', 'pipe', 'inherit'],
    },
  );
  const exited = once(child, 'exit');
  try {
    let out = '';
    for await (const chunk of child.stdout
      .setEncoding('utf8')
      .iterator({ destroyOnReturn: false })) {
      out += chunk;
      if (out.includes('gleaner -- job list\n')) break;
    }
    const url = /Console +(\S+)\/console$/m.exec(out)?.[1];
    const key = /User key +(\S+)$/m.exec(out)?.[1];
    const operatorKey = /Operator key +(\S+)$/m.exec(out)?.[1];
    const account = await fetch(`${url}/v1/account`, {
      headers: { authorization: `Bearer ${key}` },
    });
    expect(await account.json()).toMatchObject({ account: { name: 'demo' } });
    const users = await fetch(`${url}/gleaner.operator.v1.OperatorService/ListUsers`, {
      method: 'POST',
      headers: { authorization: `Bearer ${operatorKey}`, 'content-type': 'application/json' },
      body: '{}',
    });
    expect(users.status).toBe(200);
    const scheduleId = /^Schedule of .+: ([0-9a-f-]{36})$/m.exec(out)?.[1];
    const runs = await fetch(`${url}/v1/schedules/${scheduleId}/runs`, {
      headers: { authorization: `Bearer ${key}` },
    });
    const jobIds = [...out.matchAll(/^ {2}run \d: 29 of 30 units, job ([0-9a-f-]{36})/gm)].map(
      ([, id]) => id,
    );
    expect(await runs.json()).toMatchObject({
      runs: jobIds.toReversed().map((jobId) => ({ job_id: jobId, trigger: 'manual' })),
    });
    expect(jobIds).toHaveLength(2);
    expect(out).toMatch(/^ +\S+\.jsonl\.gz {2}29 records, \d+ bytes/m);
    const table = await readFile(join(folder, /^ {2}(\S+\.parquet) /m.exec(out)![1]!));
    expect(table.subarray(0, 4).toString()).toBe('PAR1');
    const changes = await readFile(
      join(folder, /^ {2}(\S+-changes\.jsonl) {2}15 changes/m.exec(out)![1]!),
      'utf8',
    );
    const types = changes
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line).type);
    expect(new Set(types)).toEqual(new Set(['changed']));
    child.kill('SIGINT');
    expect(await exited).toEqual([0, null]);
    await expect(fetch(`${url}/health`)).rejects.toThrow();
  } finally {
    child.kill('SIGKILL');
    await rm(folder, { recursive: true });
  }
});
