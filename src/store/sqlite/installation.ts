import { statSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { newId } from '../../base/id.ts';
import type { SqliteConnection } from './connection.ts';
import { busyTimeoutMs, guarded } from './engine.ts';
import { readVersion, schemaVersion } from './schema.ts';

/** What a data file is, found without changing it. */
export type DataFile =
  | { kind: 'missing' }
  | { kind: 'empty' }
  /** A database without the tables of this program. */
  | { kind: 'other' }
  /** A database of a later version of this program, which migrate() refuses. */
  | { kind: 'newer' }
  | {
      kind: 'gleaner';
      /** Id of the installation. Null in a file that was never used with an id. */
      installationId: string | null;
      hasJobs: boolean;
    };

/** Inspects a data file. Throws a DamagedDataError, `unavailable`. */
export function inspectDataFile(path: string): DataFile {
  const size = statSync(path, { throwIfNoEntry: false })?.size;
  if (size === undefined) return { kind: 'missing' };
  // SQLite would delete the log of an empty file.
  if (size === 0) return { kind: 'empty' };
  return withDatabase(path, (database) => {
    const version = readVersion(database);
    if (version > schemaVersion) return { kind: 'newer' };
    if (version === 0) {
      const tables = database.prepare('SELECT 1 FROM sqlite_master LIMIT 1').get();
      return { kind: tables === undefined ? 'empty' : 'other' };
    }
    if (!hasOwnTables(database)) return { kind: 'other' };
    return {
      kind: 'gleaner',
      installationId: readId(database),
      hasJobs: database.prepare('SELECT 1 FROM jobs LIMIT 1').get() !== undefined,
    };
  });
}

/**
 * Returns the id of the installation that an open data file belongs to. Creates one if it has none.
 */
export function ensureInstallationId(connection: SqliteConnection): string {
  return connection.write(() => {
    connection.run(
      'INSERT INTO installation SELECT ? WHERE NOT EXISTS (SELECT 1 FROM installation)',
      newId(),
    );
    return connection.get<{ id: string }>('SELECT id FROM installation')!.id;
  });
}

/** Returns true if the database has tables of this program. */
function hasOwnTables(database: DatabaseSync): boolean {
  const count = database
    .prepare(
      `SELECT count(*) AS count
       FROM sqlite_master
       WHERE type = 'table' AND name IN ('jobs', 'ledger', 'installation')`,
    )
    .get()!;
  return count.count === 3;
}

function readId(database: DatabaseSync): string | null {
  const row = database.prepare('SELECT id FROM installation').get();
  return row === undefined ? null : String(row.id);
}

function withDatabase<T>(path: string, use: (database: DatabaseSync) => T): T {
  return guarded(path, () => {
    const database = new DatabaseSync(path, { timeout: busyTimeoutMs });
    try {
      return use(database);
    } finally {
      database.close();
    }
  });
}
