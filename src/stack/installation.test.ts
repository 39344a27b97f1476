import { existsSync, mkdirSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { cp, mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { openSqliteStore } from '../store/sqlite/open.ts';
import {
  installationFile,
  markInstallation,
  matchFolder,
  requireInstallation,
} from './installation.ts';

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'gleaner-installation-'));
});
afterEach(() => rm(folder, { recursive: true }));

const pathOf = (dataDir: string, name = 'gleaner.db') => join(dataDir, name);

/** Creates the data folder of an installation that has a job, as a service leaves it. */
async function install(name: string): Promise<string> {
  const dataDir = join(folder, name);
  const store = openSqliteStore({ path: pathOf(dataDir) });
  markInstallation({ dataDir }, await store.installationId());
  await store.close();
  writeFileSync(pathOf(dataDir, 'secrets.txt'), 'secret');
  mkdirSync(pathOf(dataDir, 'results/job-1'), { recursive: true });
  return dataDir;
}

const check = (dataDir: string) => requireInstallation({ mongoUri: null, dataDir });
const refused = (problem: string | RegExp) =>
  expect.objectContaining({
    name: 'UnknownInstallationError',
    message: expect.stringMatching(problem),
  });

describe('requireInstallation()', () => {
  test('accepts a folder that does not exist, and creates nothing', async () => {
    await check(join(folder, 'new'));
    expect(existsSync(join(folder, 'new'))).toBe(false);
  });

  test('accepts a new folder, also after the first start was killed', async () => {
    const dataDir = join(folder, 'data');
    mkdirSync(join(dataDir, 'results/.writing'), { recursive: true });
    writeFileSync(pathOf(dataDir, 'gleaner.lock'), '');
    await check(dataDir);
    await openSqliteStore({ path: pathOf(dataDir) }).close();
    writeFileSync(pathOf(dataDir, 'secrets.txt'), 'secret');
    await check(dataDir);
  });

  test('accepts the installation, its moved folder, and a copy of its database', async () => {
    const dataDir = await install('data');
    await check(dataDir);
    await cp(dataDir, join(folder, 'moved'), { recursive: true });
    await check(join(folder, 'moved'));
  });

  test.each([
    ['missing', (path: string) => rmSync(path)],
    ['empty', (path: string) => truncateSync(path)],
    [
      'empty',
      (path: string) => {
        rmSync(path);
        new DatabaseSync(path).close();
        writeFileSync(path, '');
      },
    ],
  ])('refuses a folder whose database is %s, and leaves it so', async (state, damage) => {
    const dataDir = await install('data');
    damage(pathOf(dataDir));
    const before = existsSync(pathOf(dataDir));
    await expect(check(dataDir)).rejects.toEqual(
      refused(
        `gleaner.db is ${state}, but the folder has installation.json, secrets.txt, results: put`,
      ),
    );
    expect(existsSync(pathOf(dataDir))).toBe(before);
  });

  test.each(['installation.json', 'secrets.txt', 'results'])(
    'treats %s as evidence of an installation',
    async (name) => {
      const dataDir = await install('data');
      rmSync(pathOf(dataDir));
      for (const other of ['installation.json', 'secrets.txt', 'results'])
        if (other !== name) rmSync(pathOf(dataDir, other), { recursive: true });
      await expect(check(dataDir)).rejects.toEqual(refused(`but the folder has ${name}: put`));
    },
  );

  test('refuses the database of another installation, and of another program', async () => {
    const [dataDir, other] = [await install('data'), await install('other')];
    await cp(pathOf(other), pathOf(dataDir));
    await expect(check(dataDir)).rejects.toEqual(refused('belongs to another installation than'));
    rmSync(pathOf(dataDir));
    const database = new DatabaseSync(pathOf(dataDir));
    database.exec('CREATE TABLE notes (text TEXT)');
    database.close();
    await expect(check(dataDir)).rejects.toEqual(refused('is a database of another program'));
  });

  test('refuses a new database beside the results of an installation without a marker', async () => {
    const dataDir = await install('data');
    rmSync(pathOf(dataDir, installationFile));
    await expect(check(dataDir)).rejects.toEqual(
      refused('another installation than secrets.txt, results'),
    );
  });

  test('refuses a marker that cannot be read', async () => {
    const dataDir = await install('data');
    writeFileSync(pathOf(dataDir, installationFile), '{');
    await expect(check(dataDir)).rejects.toEqual(refused('belongs to another installation'));
  });
});

test('markInstallation() gives a database one id, which it keeps', async () => {
  const dataDir = await install('data');
  const marker = await readFile(pathOf(dataDir, installationFile), 'utf8');
  expect(JSON.parse(marker)).toEqual({ id: expect.stringMatching(/^[0-9a-f-]{36}$/) });
  rmSync(pathOf(dataDir, installationFile));
  const store = openSqliteStore({ path: pathOf(dataDir) });
  markInstallation({ dataDir }, await store.installationId());
  await store.close();
  expect(await readFile(pathOf(dataDir, installationFile), 'utf8')).toBe(marker);
});

describe('matchFolder()', () => {
  test('marks a folder with secrets, and refuses it to another database', () => {
    const dataDir = join(folder, 'data');
    mkdirSync(dataDir);
    matchFolder({ dataDir }, 'one');
    expect(existsSync(pathOf(dataDir, installationFile))).toBe(false);
    writeFileSync(pathOf(dataDir, 'secrets.txt'), 'secret');
    matchFolder({ dataDir }, 'one');
    matchFolder({ dataDir }, 'one');
    expect(() => matchFolder({ dataDir }, 'two')).toThrow(
      /^The database of MONGODB_URI belongs to another installation than installation.json, secrets.txt in /,
    );
  });
});
