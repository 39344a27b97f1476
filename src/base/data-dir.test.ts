import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeEach, describe, expect, test } from 'vitest';
import { openFiles } from '../blobs/files/open.ts';
import { openSecrets } from '../links/secrets.ts';
import { openSqliteStore } from '../store/sqlite/open.ts';
import { openPrivateFile, openPrivateFolder } from './data-dir.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'gleaner-data-'));
  return () => rmSync(folder, { recursive: true, force: true });
});

const modeOf = (path: string): string => (statSync(path).mode & 0o7777).toString(8);

describe('openPrivateFolder()', () => {
  test('creates a folder and its parents with mode 0700', () => {
    const inner = join(folder, 'a', 'b');
    openPrivateFolder(inner);
    expect([modeOf(inner), modeOf(join(folder, 'a'))]).toEqual(['700', '700']);
  });

  test('throws for a folder that cannot exist', () => {
    writeFileSync(join(folder, 'file'), '');
    expect(() => openPrivateFolder(join(folder, 'file', 'data'))).toThrow(/EEXIST/);
    expect(() => openPrivateFolder(join(folder, 'file'))).toThrow(/EEXIST/);
    expect(() => openPrivateFolder('/proc/nope/data')).toThrow(/ENOENT/);
  });

  test('restricts an existing folder unless it has the sticky bit', () => {
    const [open, shared] = [join(folder, 'open'), join(folder, 'shared')];
    for (const [path, mode] of [
      [open, 0o755],
      [shared, 0o1777],
    ] as const) {
      mkdirSync(path);
      chmodSync(path, mode);
      openPrivateFolder(path);
    }
    expect([modeOf(open), modeOf(shared)]).toEqual(['700', '1777']);
  });
});

test('openPrivateFile() restricts an existing file and keeps its content', () => {
  const file = join(folder, 'secret');
  writeFileSync(file, 'x', { mode: 0o644 });
  openPrivateFile(file);
  expect([modeOf(file), readFileSync(file, 'utf8')]).toEqual(['600', 'x']);
});

test('the stores and the secrets make the data folder and its files private, also existing ones', async () => {
  const dataDir = join(folder, 'data');
  const [database, secrets] = [join(dataDir, 'gleaner.db'), join(dataDir, 'secrets.txt')];
  const open = async () => {
    const store = openSqliteStore({ path: database });
    await store.ping();
    openSecrets(null, dataDir);
    const results = openFiles({ directory: join(dataDir, 'results') });
    const files = [database, `${database}-wal`, `${database}-shm`, secrets];
    const modes = [dataDir, join(dataDir, 'results'), ...files].map(modeOf);
    await store.close();
    await results.close();
    return modes;
  };
  const expected = ['700', '700', '600', '600', '600', '600'];
  expect(await open()).toEqual(expected);
  chmodSync(dataDir, 0o755);
  chmodSync(join(dataDir, 'results'), 0o755);
  chmodSync(database, 0o644);
  writeFileSync(`${database}-wal`, '', { mode: 0o644 });
  chmodSync(secrets, 0o644);
  expect(await open()).toEqual(expected);
});
