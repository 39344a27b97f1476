import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { settings } from '../../src/base/settings.ts';
import { freePort } from '../support/servers/ports.ts';
import { createApi } from '../support/service/api.ts';
import { runCommand } from '../support/service/command.ts';
import { createServiceProcess, root } from '../support/service/service.ts';
import { runShell } from './example.ts';

const operatePage = readFileSync(join(root, 'docs/operate.md'), 'utf8');
const backupsPage = readFileSync(join(root, 'docs/backups.md'), 'utf8');
const unit = readFileSync(join(root, 'deploy/gleaner.service'), 'utf8');
const hasSystemd = spawnSync('systemd-analyze', ['--version']).status === 0;

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'gleaner-operate-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

/** Returns the commands of the first block after a text of the page about backups. */
function commandsAfter(text: string): string {
  const [, found] =
    /^```\n([\s\S]*?)^```/m.exec(backupsPage.slice(backupsPage.indexOf(text))) ?? [];
  return found!;
}

describe('the unit of systemd', () => {
  test('runs the compiled program with the settings and the folders that the pages name', () => {
    const value = (name: string) => new RegExp(`^${name}=(.*)$`, 'm').exec(unit)?.[1];
    expect(value('ExecStart')).toBe(
      '/opt/gleaner/node_modules/.bin/node /opt/gleaner/dist/main.js serve',
    );
    expect(value('Environment')).toBe('GLEANER_DATA_DIR=/var/lib/gleaner');
    expect(value('StateDirectory')).toBe('gleaner');
    expect(backupsPage).toContain(`\nGLEANER_BACKUP_TO=${value('ReadWritePaths')?.slice(1)}\n`);
    expect(operatePage).toContain(`\n       ${value('ExecStart')?.replace(/ serve$/, ' "$@"')}\n`);
    expect(operatePage).toContain(value('EnvironmentFile')!);
    for (const [name] of `${operatePage}${backupsPage}`.matchAll(/GLEANER_[A-Z_]+(?==)/g))
      expect(settings).toHaveProperty(name.replace(/_FILE$/, ''));
    // The build writes this file.
    expect(readFileSync(join(root, 'deploy/bundle.mjs'), 'utf8')).toContain(
      "main: 'src/cli/main.ts'",
    );
  });

  test.skipIf(!hasSystemd)(
    `is valid${hasSystemd ? '' : ' [systemd-analyze is not installed]'}`,
    () => {
      const file = join(folder, 'gleaner.service');
      // The program is not installed here.
      writeFileSync(file, unit.replace('/opt/gleaner/node_modules/.bin/node', process.execPath));
      const { status, stderr } = spawnSync('systemd-analyze', ['verify', file], {
        encoding: 'utf8',
      });
      expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
    },
  );
});

test('the commands for a backup restore the data of a service', async () => {
  const environment = {
    GLEANER_DATA_DIR: join(folder, 'lib/gleaner'),
    GLEANER_HTTP_PORT: String(await freePort()),
    GLEANER_GRPC_PORT: '0',
    GLEANER_OPS_PORT: 'off',
    GLEANER_OPERATOR_KEY: 'operator-of-the-test',
    GLEANER_WORKERS: '0',
  };
  const service = createServiceProcess({ role: 'serve', environment });
  const url = `http://127.0.0.1:${environment.GLEANER_HTTP_PORT}`;
  const run = (commands: string) =>
    runShell(
      commands
        .replaceAll(/^sudo systemctl .*$/gm, '')
        .replaceAll('sudo ', '')
        .replaceAll('/var/lib', join(folder, 'lib')),
      {},
      folder,
    );
  await service.start();
  const api = createApi({ url, operatorKey: environment.GLEANER_OPERATOR_KEY });
  const user = await api.createUser(1_234);
  await service.stop();
  await run(commandsAfter('stop the service and copy the data folder:'));
  rmSync(join(folder, 'lib/gleaner/gleaner.db'));
  await run(commandsAfter('To restore it'));
  expect((await runCommand(['audit'], environment)).code).toBe(0);
  await service.start();
  expect(await api.balance(user)).toBe(1_234);
  await service.stop();
});
