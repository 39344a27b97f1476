import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { storeFile } from '../stack/stack.ts';
import { openSqliteStore } from '../store/sqlite/open.ts';
import { auditInProcess } from './audit-check.ts';

const { signal } = new AbortController();
const memoryBytes = 128 * 1024 ** 2;

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'gleaner-audit-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

test('auditInProcess() finds a wrong balance while the store is open', async () => {
  const store = openSqliteStore({ path: join(folder, storeFile) });
  const user = {
    id: 'u1',
    name: 'Ann',
    email: 'ann@example.test',
    role: 'user' as const,
    createdAt: 1,
  };
  await store.users.insert({
    ...user,
    balance: 0,
    suspendedAt: null,
    deletedAt: null,
    erased: false,
    testOf: null,
  });
  const entry = {
    userId: 'u1',
    type: 'grant' as const,
    jobId: null,
    keyId: null,
    note: '',
    createdAt: 1,
  };
  await store.ledger.post({ ...entry, key: 'k1', amount: 10 });
  const environment = { GLEANER_DATA_DIR: folder };
  expect(await auditInProcess({ memoryBytes, environment, signal })).toMatchObject({
    accounts: 1,
    problems: [],
  });
  const file = new DatabaseSync(join(folder, storeFile));
  file.exec('UPDATE users SET balance = 11');
  file.close();
  const { problems } = await auditInProcess({ memoryBytes, environment, signal });
  expect(problems).toEqual(['account u1: balance 11, sum of the ledger 10']);
  await store.close();
});

test('auditInProcess() rejects with the error of the process', async () => {
  const environment = { GLEANER_DATA_DIR: join(folder, 'none') };
  await expect(auditInProcess({ memoryBytes, environment, signal })).rejects.toMatchObject({
    code: 'unavailable',
    message: expect.stringMatching(/^The audit failed: .*No Gleaner data/s),
  });
});

test('auditInProcess() ends with the signal', async () => {
  const stopping = new AbortController();
  const audit = auditInProcess({
    memoryBytes,
    environment: { GLEANER_DATA_DIR: folder },
    signal: stopping.signal,
  });
  stopping.abort(new Error('stopping'));
  await expect(audit).rejects.toThrow('stopping');
});
