import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { runCommand, startCommand } from '../support/service/command.ts';

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'gleaner-dot-env-'));
});
afterEach(() => rm(folder, { recursive: true }));

/** Runs a command that names the data folder in its error. */
const dataFolder = async (environment: Record<string, string>) =>
  (await runCommand(['audit'], environment, { folder })).stderr;

describe('a .env file in the current folder', () => {
  test('is read by a process, and its settings of OpenTelemetry reach the SDK', async () => {
    const lines = [
      'GLEANER_DATA_DIR=data',
      'GLEANER_HTTP_PORT=0',
      'GLEANER_GRPC_PORT=0',
      'GLEANER_WORKERS=0',
    ];
    const telemetry = ['GLEANER_OPS_PORT=0', 'OTEL_RESOURCE_ATTRIBUTES=site=north'];
    await writeFile(join(folder, '.env'), [...lines, ...telemetry].join('\n'));
    const service = startCommand(['serve'], {}, folder);
    const exited = once(service, 'exit');
    try {
      let out = '';
      for await (const chunk of service.stdout
        .setEncoding('utf8')
        .iterator({ destroyOnReturn: false })) {
        out += chunk;
        if (out.includes('/metrics')) break;
      }
      const url = /metrics.*: (http\S+)$/m.exec(out)![1];
      const metrics = await (await fetch(`${url}/metrics`)).text();
      expect(metrics).toMatch(/^target_info\{site="north"/m);
      service.kill('SIGTERM');
      expect(await exited).toEqual([0, null]);
      expect(existsSync(join(folder, 'data'))).toBe(true);
    } finally {
      service.kill('SIGKILL');
    }
  });

  test('sets what the environment does not set', async () => {
    await writeFile(join(folder, '.env'), 'GLEANER_DATA_DIR=from-file\n');
    expect(await dataFolder({})).toContain(`No Gleaner data in ${join(folder, 'from-file')}.`);
    const environment = { GLEANER_DATA_DIR: join(folder, 'from-environment') };
    expect(await dataFolder(environment)).toContain(
      `No Gleaner data in ${environment.GLEANER_DATA_DIR}.`,
    );
  });

  test('names files with secrets; an error names the setting', async () => {
    await writeFile(join(folder, '.env'), 'GLEANER_OPERATOR_KEY_FILE=missing\n');
    const stderr = `gleaner: GLEANER_OPERATOR_KEY_FILE=${join(folder, 'missing')}: the file cannot be read (ENOENT)\n`;
    for (const command of [['doctor'], ['audit'], ['account', 'show']])
      expect(await runCommand(command, {}, { folder })).toEqual({ code: 2, stdout: '', stderr });
    expect(await dataFolder({ GLEANER_OPERATOR_KEY: 'key-of-an-operator' })).toContain(
      'No Gleaner data',
    );
  });
});
