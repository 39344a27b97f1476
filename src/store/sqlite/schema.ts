import type { DatabaseSync } from 'node:sqlite';
import { NewerDataError } from '../../base/data-refused-error.ts';
import { declarations } from '../collections.ts';
import { createTable } from './tables.ts';

/** Tables with queries of their own. Large values are in the last column or in a separate table. */
const ownTables = `
  CREATE TABLE ledger (
    key TEXT PRIMARY KEY,
    user_id TEXT NOT NULL REFERENCES users (id),
    amount INTEGER NOT NULL,
    type TEXT NOT NULL,
    job_id TEXT,
    note TEXT NOT NULL,
    created_at REAL NOT NULL,
    key_id TEXT
  ) STRICT;
  CREATE INDEX ledger_by_user ON ledger (user_id, created_at, key);
  CREATE INDEX ledger_by_time ON ledger (created_at, key);

  CREATE TABLE batches (
    id TEXT PRIMARY KEY,
    job_id TEXT NOT NULL REFERENCES jobs (id) ON DELETE CASCADE,
    seq INTEGER NOT NULL,
    market TEXT NOT NULL,
    region TEXT NOT NULL,
    lane TEXT NOT NULL,
    total INTEGER NOT NULL,
    success INTEGER NOT NULL,
    failed INTEGER NOT NULL,
    stored_bytes INTEGER NOT NULL,
    page_bytes INTEGER GENERATED ALWAYS AS (pages ->> 'bytes') STORED,
    state TEXT NOT NULL,
    attempt INTEGER NOT NULL,
    queued_at REAL,
    published_at REAL,
    lease_until REAL,
    not_before REAL,
    ended_at REAL,
    wait TEXT,
    stalled_claims INTEGER NOT NULL,
    isolated TEXT,
    file TEXT,
    pages TEXT,
    segments TEXT NOT NULL,
    outcomes TEXT NOT NULL,
    UNIQUE (job_id, seq)
  ) STRICT;
  CREATE INDEX batches_pending ON batches (job_id, state, seq) WHERE state <> 'done';
  CREATE INDEX batches_claimed ON batches (lease_until) WHERE state = 'claimed';
  CREATE INDEX batches_waiting ON batches (job_id, region, seq) WHERE state = 'waiting';
  CREATE INDEX batches_by_wait ON batches (job_id, wait ->> 'until') WHERE wait IS NOT NULL;
  CREATE INDEX batches_published ON batches (published_at) WHERE state = 'queued';

  CREATE TABLE batch_units (
    batch_id TEXT PRIMARY KEY REFERENCES batches (id) ON DELETE CASCADE,
    units TEXT NOT NULL
  ) STRICT;

  CREATE TABLE unit_keys (
    job_id TEXT NOT NULL,
    key TEXT NOT NULL,
    seq INTEGER NOT NULL,
    PRIMARY KEY (job_id, key, seq)
  ) STRICT, WITHOUT ROWID;

  CREATE TABLE origins (
    origin TEXT PRIMARY KEY,
    next_free REAL NOT NULL DEFAULT 0,
    revision INTEGER NOT NULL DEFAULT 0,
    paused_until REAL NOT NULL DEFAULT 0,
    reason TEXT NOT NULL DEFAULT '',
    failures INTEGER NOT NULL DEFAULT 0,
    since REAL NOT NULL DEFAULT 0,
    probing INTEGER NOT NULL DEFAULT 0,
    held_until REAL NOT NULL DEFAULT 0,
    holdings TEXT NOT NULL DEFAULT '[]'
  ) STRICT;

  CREATE TABLE void_ledger_keys (key TEXT PRIMARY KEY, at REAL NOT NULL) STRICT, WITHOUT ROWID;

  CREATE TABLE installation (id TEXT NOT NULL) STRICT;
`;

/** Creates the tables of a new file. */
const currentSchema = Object.values(declarations).map(createTable).join('\n') + ownTables;

/**
 * Statements of the migrations, in order. `user_version` is the number of applied ones. The first
 * creates the current tables of a new file, which needs no other. Append a migration for every
 * change of a table that was released.
 */
export const migrations: readonly string[] = [currentSchema];

/** Version of this program's schema. */
export const schemaVersion = migrations.length;

/** Returns the version of a file's schema. */
export function readVersion(database: DatabaseSync): number {
  return Number(database.prepare('PRAGMA user_version').get()!.user_version);
}

/** Applies the missing migrations. Throws a NewerDataError if a newer program wrote the file. */
export function migrate(database: DatabaseSync, path: string, steps = migrations): void {
  const version = () => readVersion(database);
  if (version() < steps.length) {
    database.exec('BEGIN IMMEDIATE');
    try {
      // Another process may have migrated the file while this one waited for the lock.
      const found = version();
      const missing = found === 0 ? steps.slice(0, 1) : steps.slice(found);
      for (const step of missing) database.exec(step);
      database.exec(`PRAGMA user_version = ${steps.length}; COMMIT`);
    } catch (thrown) {
      database.exec('ROLLBACK');
      throw thrown;
    }
  }
  if (version() > steps.length)
    throw new NewerDataError(`SQLite file ${path}`, version(), steps.length);
}
