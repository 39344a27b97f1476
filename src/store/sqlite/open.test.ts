import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe } from 'vitest';
import { storeContract } from '../contract.ts';
import { openSqliteStore } from './open.ts';

describe('SQLite store', () => {
  let folder: string;
  let files = 0;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'gleaner-sqlite-'));
  });
  afterAll(() => rm(folder, { recursive: true, force: true }));

  storeContract(async () => {
    files += 1;
    const path = join(folder, `${files}`, 'store.sqlite');
    const store = openSqliteStore({ path });
    const other = openSqliteStore({ path });
    return {
      store,
      other,
      remove: async () => {
        await other.close();
        await store.close();
      },
    };
  });
});
