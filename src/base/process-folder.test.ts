import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { beforeEach, expect, test } from 'vitest';
import { createProcessFolder, processFolderPrefix, removeProcessFolder } from './process-folder.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'gleaner-process-folder-'));
  return () => rmSync(folder, { recursive: true });
});

test('createProcessFolder() creates an empty folder that names the process', async () => {
  const [one, other] = [
    await createProcessFolder('dev', folder),
    await createProcessFolder('dev', folder),
  ];
  expect(one).not.toBe(other);
  expect([dirname(one), readdirSync(one)]).toEqual([folder, []]);
  expect(basename(one)).toMatch(new RegExp(`^gleaner-dev-[0-9a-f]{6}-${process.pid}-\\w{6}$`));
  await removeProcessFolder(one);
  expect(readdirSync(folder)).toEqual([basename(other)]);
});

test('createProcessFolder() removes folders of ended processes only, of this machine and the same purpose', async () => {
  const { pid: ended } = spawnSync(process.execPath, ['-e', '']);
  const nameOf = (purpose: string, pid: number) => `${processFolderPrefix(purpose, pid)}abc`;
  const kept = [
    nameOf('dev', process.ppid),
    nameOf('browser', ended),
    `gleaner-dev-000000-${ended}-abc`,
    'gleaner-dev-abc',
  ];
  for (const name of [...kept, nameOf('dev', ended)]) {
    mkdirSync(join(folder, name));
    writeFileSync(join(folder, name, 'file'), '');
  }
  const created = basename(await createProcessFolder('dev', folder));
  expect(readdirSync(folder).toSorted()).toEqual([...kept, created].toSorted());
});
