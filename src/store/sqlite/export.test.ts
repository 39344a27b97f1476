import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { beforeEach, describe, expect, test } from 'vitest';
import { aDelivery, aJob, someBatches, storeJob } from '../conformance/samples.ts';
import { contentSources, omittedContents, openExport, readSchemaVersion } from './export.ts';
import { openSqliteStore } from './open.ts';

let path: string;
beforeEach(() => {
  const folder = mkdtempSync(join(tmpdir(), 'gleaner-export-'));
  path = join(folder, 'gleaner.db');
  return () => rmSync(folder, { recursive: true });
});

describe('openExport()', () => {
  test('reads every table and column of the schema, except for the listed ones', async () => {
    const store = openSqliteStore({ path });
    await store.ping();
    await store.close();
    const database = new DatabaseSync(path);
    const inSchema = database
      .prepare(
        `SELECT t.name || '.' || c.name AS place FROM sqlite_master AS t, pragma_table_info(t.name) AS c
         WHERE t.type = 'table' ORDER BY 1`,
      )
      .all()
      .map(({ place }) => String(place));
    database.close();
    const read = Object.values(contentSources).flatMap(({ columns }) =>
      Object.entries(columns).flatMap(([table, names]) =>
        names.split(', ').map((column) => `${table}.${column.replaceAll('"', '')}`),
      ),
    );
    const isOmitted = (place: string) =>
      place in omittedContents || place.split('.')[0]! in omittedContents;
    expect(inSchema.filter((place) => !isOmitted(place))).toEqual(read.toSorted());
  });

  test('leaves out jobs that were being written or deleted', async () => {
    const store = openSqliteStore({ path });
    const { job } = await storeJob(store, 2);
    const interrupted = aJob();
    const batches = function* () {
      yield* someBatches(interrupted, 60);
      throw new Error('killed');
    };
    await expect(store.jobs.create(interrupted, batches())).rejects.toThrow('killed');
    const deleted = await storeJob(store, 1);
    await store.deliveries.insert(aDelivery({ jobId: deleted.job.id }));
    await store.close();
    const database = new DatabaseSync(path);
    database.prepare(`UPDATE jobs SET state = 'removing' WHERE id = ?`).run(deleted.job.id);
    database.close();
    const contents = openExport(path);
    expect([...contents.read('jobs')].map(({ id }) => id)).toEqual([job.id]);
    expect([...contents.read('batches')].map(({ jobId }) => jobId)).toEqual([job.id, job.id]);
    expect([...contents.read('deliveries')]).toEqual([]);
    contents.close();
  });
});

describe('readSchemaVersion()', () => {
  test('does not migrate the file', () => {
    const database = new DatabaseSync(path);
    database.exec('PRAGMA user_version = 3');
    database.close();
    expect(readSchemaVersion(path)).toEqual({ found: 3, supported: expect.any(Number) });
    expect(readSchemaVersion(path).found).toBe(3);
  });
});
