import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { Worker } from 'node:worker_threads';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { NewerDataError } from '../../base/data-refused-error.ts';
import { anEntry, aUser } from '../conformance/samples.ts';
import { openSqliteStore } from './open.ts';
import { migrate, migrations, readVersion } from './schema.ts';

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'gleaner-sqlite-'));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

test('creates the folder, and finds its data when the file is opened again', async () => {
  const path = join(folder, 'new', 'folder', 'store.sqlite');
  const first = openSqliteStore({ path });
  const user = aUser();
  await first.users.insert(user);
  await first.close();
  await first.close();
  const second = openSqliteStore({ path });
  expect(await second.users.get(user.id)).toEqual(user);
  await second.ping();
  await second.close();
});

test('a closed store, and a folder that is a file, are unavailable', async () => {
  const store = openSqliteStore({ path: join(folder, 'closed.sqlite') });
  await store.close();
  await expect(store.ping()).rejects.toMatchObject({ code: 'unavailable' });
  const entry = anEntry('someone', 1);
  await expect(store.ledger.post(entry)).rejects.toMatchObject({ code: 'unavailable' });
  await writeFile(join(folder, 'file'), '');
  const inside = join(folder, 'file', 'store.sqlite');
  expect(() => openSqliteStore({ path: inside })).toThrow(
    expect.objectContaining({ code: 'unavailable' }),
  );
});

test('a next version keeps the data of this one, migrates once, and this one refuses its file', async () => {
  const path = join(folder, 'next.sqlite');
  const store = openSqliteStore({ path });
  const user = aUser();
  await store.users.insert(user);
  await store.close();
  const next = [...migrations, `ALTER TABLE users ADD COLUMN phone TEXT NOT NULL DEFAULT '-'`];
  const file = new DatabaseSync(path);
  // A step that fails leaves the file as it was.
  expect(() => migrate(file, path, [...next, 'DROP TABLE missing'])).toThrow(/no such table/);
  expect(readVersion(file)).toBe(migrations.length);
  migrate(file, path, next);
  migrate(file, path, next);
  expect(readVersion(file)).toBe(next.length);
  expect(file.prepare('SELECT id, phone FROM users').get()).toEqual({ id: user.id, phone: '-' });
  file.close();
  expect(() => openSqliteStore({ path })).toThrow(NewerDataError);
});

test('a file that is not a database, and one of a newer version, are rejected with a reason', async () => {
  const text = join(folder, 'text.sqlite');
  await writeFile(
    text,
    'a letter to a friend, long enough to be looked at by the engine'.repeat(20),
  );
  expect(() => openSqliteStore({ path: text })).toThrow(
    /text\.sqlite is damaged, .*\(file is not a database\)/,
  );
  const path = join(folder, 'newer.sqlite');
  const newer = new DatabaseSync(path);
  newer.exec('PRAGMA user_version = 99');
  newer.close();
  expect(() => openSqliteStore({ path })).toThrow(
    /newer\.sqlite has schema version 99, but this program supports versions up to \d+: install a newer/,
  );
});

test('writes of a killed process are kept, and its open transaction is not', async () => {
  const path = join(folder, 'shared.sqlite');
  const store = openSqliteStore({ path });
  const user = aUser();
  await store.users.insert(user);
  const program = `
    const { openSqliteStore } = await import(${JSON.stringify(new URL('./open.ts', import.meta.url).href)});
    const { DatabaseSync } = await import('node:sqlite');
    const path = ${JSON.stringify(path)};
    const store = openSqliteStore({ path });
    await store.ledger.post(${JSON.stringify(anEntry(user.id, 5))});
    const raw = new DatabaseSync(path);
    raw.exec("BEGIN IMMEDIATE; UPDATE users SET balance = 1000");
    process.stdout.write('written');
    setInterval(() => {}, 1000);
  `;
  const child = spawn(process.execPath, ['--input-type=module', '-e', program], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  await once(child.stdout, 'data');
  // The other process's open transaction does not block readers.
  expect((await store.users.get(user.id))?.balance).toBe(5);
  child.kill('SIGKILL');
  await once(child, 'exit');
  expect(await store.ledger.post(anEntry(user.id, 2))).toEqual({ posted: true, balance: 7 });
  await store.close();
});

test('a write waits for the transaction of another process', async () => {
  const path = join(folder, 'busy.sqlite');
  const store = openSqliteStore({ path });
  const user = aUser();
  await store.users.insert(user);
  // A thread, because the write blocks this one.
  const program = `
    const { DatabaseSync } = require('node:sqlite');
    const { parentPort } = require('node:worker_threads');
    const raw = new DatabaseSync(${JSON.stringify(path)});
    raw.exec('BEGIN IMMEDIATE; UPDATE users SET balance = balance + 10');
    parentPort.postMessage('written');
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 20);
    raw.exec('COMMIT');
  `;
  const other = new Worker(program, { eval: true });
  const ended = once(other, 'exit');
  await once(other, 'message');
  expect(await store.ledger.post(anEntry(user.id, 2))).toEqual({ posted: true, balance: 12 });
  await ended;
  await store.close();
});
