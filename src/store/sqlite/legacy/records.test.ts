import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { gunzipSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { openSqliteStore } from '../open.ts';

/** The situation that src/jobs/leftovers.test.ts describes. */
const fixture = new URL('../../../../test/earlier-data/data-v10.sqlite.gz', import.meta.url);

const tables = (path: string) => {
  const database = new DatabaseSync(path);
  const names = database.prepare(`SELECT name FROM sqlite_master WHERE name LIKE '%payloads'`).all();
  database.close();
  return names.map(({ name }) => name);
};

test('the table of records exists until its last row is moved, and a new file has none', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'gleaner-earlier-'));
  const path = join(folder, 'data.sqlite');
  await writeFile(path, gunzipSync(await readFile(fixture)));
  const store = openSqliteStore({ path });
  for (const { id } of await store.findLegacyBatches(10)) await store.migrateLegacyRecords(id, null);
  // A batch in progress still has one.
  expect(await store.findLegacyBatches(10)).toEqual([]);
  expect(tables(path)).toEqual(['earlier_payloads']);
  const database = new DatabaseSync(path);
  database.exec(`UPDATE batches SET state = 'done'`);
  database.close();
  for (const { id } of await store.findLegacyBatches(10)) await store.migrateLegacyRecords(id, null);
  expect(await store.findLegacyBatches(10)).toEqual([]);
  expect(tables(path)).toEqual([]);
  const [job] = (await store.listJobs({}, { limit: 1 })).items;
  for await (const batch of store.readBatches(job!.id))
    expect((await store.readLegacyRecords(batch)).size).toBe(0);
  await store.migrateLegacyRecords('none', null);
  await store.close();

  const fresh = openSqliteStore({ path: join(folder, 'new.sqlite') });
  await fresh.findLegacyBatches(1);
  expect(tables(join(folder, 'new.sqlite'))).toEqual([]);
  await fresh.close();
  await rm(folder, { recursive: true, force: true });
});
