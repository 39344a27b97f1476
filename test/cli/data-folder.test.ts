import { once } from 'node:events';
import { closeSync, existsSync, openSync, rmSync, writeFileSync, writeSync } from 'node:fs';
import { mkdtemp, readdir, rm, symlink } from 'node:fs/promises';
import { type AddressInfo, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { freePort } from '../support/servers/ports.ts';
import { runCommand } from '../support/service/command.ts';
import { createServiceProcess, type ServiceProcess } from '../support/service/service.ts';

let folder: string;
let settings: Record<string, string>;
let service: ServiceProcess;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'gleaner-folder-'));
  settings = {
    GLEANER_DATA_DIR: join(folder, 'data'),
    GLEANER_HTTP_PORT: String(await freePort()),
    GLEANER_GRPC_PORT: String(await freePort()),
    GLEANER_OPS_PORT: 'off',
  };
  service = createServiceProcess({ role: 'serve', environment: settings });
});
afterEach(async () => {
  await service.kill();
  await rm(folder, { recursive: true });
});

describe('a folder without data', () => {
  test.each([['audit'], ['operator-key'], ['storage']])(
    'is refused by %s, which creates nothing',
    async (command) => {
      const { code, stdout, stderr } = await runCommand([command], settings);
      expect([code, stdout]).toEqual([2, '']);
      expect(stderr).toBe(
        `gleaner: No Gleaner data in ${join(folder, 'data')}. Run the command in the folder where the service was started, or set GLEANER_DATA_DIR.\n`,
      );
      expect(await readdir(folder)).toEqual([]);
    },
  );
});

test('a folder that cannot be read is refused with the user of the service as the remedy', async () => {
  const data = join(folder, 'data');
  // A link to itself cannot be read by any user.
  await symlink(data, data);
  const { code, stderr } = await runCommand(['audit'], settings);
  expect(code).toBe(2);
  expect(stderr).toMatch(
    /^gleaner: The data folder \S+ cannot be read: ELOOP.*\. Run the command as the user of the service\.\n$/,
  );
});

describe('a data folder with damage', () => {
  const file = () => join(folder, 'data', 'gleaner.db');
  /** Overwrites a page of the data file. */
  const damage = (page: number, pageBytes: number) => {
    const handle = openSync(file(), 'r+');
    writeSync(handle, Buffer.alloc(pageBytes, 'Z'), 0, pageBytes, page * pageBytes);
    closeSync(handle);
  };
  const message = (reason: string) =>
    `gleaner: SQLite file ${file()} is damaged, or its disk fails (${reason}): check the disk, and restore a backup with 'gleaner restore'`;
  beforeEach(async () => {
    await service.start();
    await service.stop();
  });

  test('is refused by every command with exit code 10', async () => {
    damage(0, 4_096);
    for (const command of ['serve', 'audit'])
      expect(await runCommand([command], settings)).toMatchObject({
        code: 10,
        stderr: `${message('file is not a database')}\n`,
      });
  });

  test.each([
    ['empty', () => writeFileSync(file(), '')],
    ['missing', () => rmSync(file())],
  ])('is refused if its database is %s, and is no new installation', async (state, lose) => {
    lose();
    const { code, stdout, stderr } = await runCommand(['serve'], settings);
    expect([code, stdout]).toEqual([10, '']);
    expect(stderr).toBe(
      `gleaner: ${file()} is ${state}, but the folder has installation.json, secrets.txt: put the database of this installation back, or restore a backup to a new folder with 'gleaner restore'. For a new installation, set GLEANER_DATA_DIR to another folder\n`,
    );
    const doctor = await runCommand(['doctor', '--offline'], settings);
    expect([doctor.code, doctor.stdout]).toEqual([
      1,
      expect.stringContaining(`${file()} is ${state}`),
    ]);
  });

  test('ends the service when it finds the damage only after its start', async () => {
    const database = new DatabaseSync(file());
    database.exec('PRAGMA wal_checkpoint(TRUNCATE)');
    const { page } = database
      .prepare("SELECT min(pageno) - 1 AS page FROM dbstat WHERE name = 'api_keys'")
      .get()!;
    const { page_size: pageBytes } = database.prepare('PRAGMA page_size').get()!;
    database.close();
    damage(Number(page), Number(pageBytes));
    const { code, stderr } = await runCommand(['serve'], settings);
    expect(code).toBe(10);
    expect(stderr.split('\n')).toContain(message('database disk image is malformed'));
  });

  test('is refused if its secrets are empty', async () => {
    writeFileSync(join(folder, 'data', 'secrets.txt'), '');
    const { code, stderr } = await runCommand(['serve'], settings);
    expect([code, stderr]).toEqual([
      2,
      expect.stringMatching(/^gleaner: \S+secrets\.txt: expected .*\n$/),
    ]);
  });
});

describe('a start that the machine refuses', () => {
  test.each([
    ['is a file', () => join(folder, 'file'), /EEXIST/],
    ['cannot exist', () => '/proc/nope', /ENOENT/],
  ])('names the setting of a data folder that %s', async (_title, place, reason) => {
    writeFileSync(join(folder, 'file'), '');
    const { code, stderr } = await runCommand(['serve'], {
      ...settings,
      GLEANER_DATA_DIR: place(),
    });
    expect([code, stderr]).toEqual([2, expect.stringMatching(reason)]);
    expect(stderr).toMatch(
      /^gleaner: The data folder \S+ cannot be written: .*\. Set GLEANER_DATA_DIR to a folder that this user can write\.\n$/,
    );
  });

  test.each(['GLEANER_HTTP_PORT', 'GLEANER_GRPC_PORT', 'GLEANER_OPS_PORT'])(
    'names %s in use',
    async (name) => {
      const other = createServer().listen(0, '127.0.0.1');
      await once(other, 'listening');
      const { port } = other.address() as AddressInfo;
      const { code, stderr } = await runCommand(['serve'], { ...settings, [name]: String(port) });
      other.close();
      expect([code, stderr]).toEqual([
        1,
        // Log lines precede it.
        expect.stringContaining(
          `gleaner: ${name}=${port}: ${port} is in use. Stop the other program, or set ${name} to a free port.\n`,
        ),
      ]);
    },
  );
});

test('a service runs without the default operations port if that is in use', async () => {
  // Whether this listener or another program has it does not matter.
  const other = createServer();
  other.listen(9464, '127.0.0.1');
  // Rejects with the error if the port is in use.
  await once(other, 'listening').catch(() => {});
  const { GLEANER_OPS_PORT: _, ...defaults } = settings;
  const second = createServiceProcess({ role: 'serve', environment: defaults });
  try {
    await second.start();
    expect(second.log()).toContain('no operations port');
  } finally {
    await second.kill();
    other.close();
  }
});

describe('a data folder in use', () => {
  test('is refused by a second service and by operator-key, and audited and counted', async () => {
    await service.start();
    const inUse = `gleaner: The data folder ${join(folder, 'data')} is in use by process ${service.pid()}. Stop that process, or set GLEANER_DATA_DIR to another folder.\n`;
    const ports = {
      GLEANER_HTTP_PORT: String(await freePort()),
      GLEANER_GRPC_PORT: String(await freePort()),
    };
    expect(await runCommand(['serve'], { ...settings, ...ports })).toEqual({
      code: 2,
      stdout: '',
      stderr: inUse,
    });
    expect(await runCommand(['operator-key'], settings)).toEqual({
      code: 2,
      stdout: '',
      stderr: inUse,
    });
    expect(await runCommand(['audit'], settings)).toEqual({
      code: 0,
      stdout: 'Checked 1 account, 0 ledger entries, and 0 jobs: no problems found.\n',
      stderr: '',
    });
    expect((await runCommand(['storage'], settings)).stdout).toMatch(
      /^database +[\d.]+ [kM]B\nresults +0 B\nkept pages +0 B\n$/,
    );
    expect(JSON.parse((await runCommand(['storage', '--json'], settings)).stdout)).toEqual({
      database_bytes: expect.any(Number),
      result_bytes: 0,
      page_bytes: 0,
      users: [],
    });
  });

  test('is free after the service stopped', async () => {
    await service.start();
    await service.stop();
    expect(existsSync(join(folder, 'data', 'gleaner.pid'))).toBe(false);
    expect(await runCommand(['operator-key'], settings)).toMatchObject({ code: 0, stderr: '' });
  });

  test('is free after the service was killed', async () => {
    await service.start();
    await service.kill();
    expect(await runCommand(['operator-key'], settings)).toMatchObject({ code: 0, stderr: '' });
    await service.start();
  });
});
