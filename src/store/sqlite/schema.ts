import type { DatabaseSync } from 'node:sqlite';
import { NewerDataError } from '../../base/data-refused-error.ts';
import { declarations } from '../collections.ts';
import { unitInSeries } from '../history-ids.ts';
import { createIndexes, createTable } from './collection.ts';

/** Tables with queries of their own. Large values are in the last column or in a separate table. */
const ownTables = `
  CREATE TABLE ledger (
    key TEXT PRIMARY KEY, user_id TEXT NOT NULL REFERENCES users (id), amount INTEGER NOT NULL,
    type TEXT NOT NULL, job_id TEXT, note TEXT NOT NULL, created_at REAL NOT NULL,
    key_id TEXT
  ) STRICT;
  CREATE INDEX ledger_by_user ON ledger (user_id, created_at, key);
  CREATE INDEX ledger_by_time ON ledger (created_at, key);

  CREATE TABLE batches (
    id TEXT PRIMARY KEY, job_id TEXT NOT NULL REFERENCES jobs (id) ON DELETE CASCADE, seq INTEGER NOT NULL,
    market TEXT NOT NULL, region TEXT NOT NULL, lane TEXT NOT NULL, total INTEGER NOT NULL,
    success INTEGER NOT NULL, failed INTEGER NOT NULL, stored_bytes INTEGER NOT NULL,
    page_bytes INTEGER GENERATED ALWAYS AS (pages ->> 'bytes') STORED,
    state TEXT NOT NULL, attempt INTEGER NOT NULL, queued_at REAL, published_at REAL, lease_until REAL, not_before REAL, ended_at REAL,
    wait TEXT, stalled_claims INTEGER NOT NULL, isolated TEXT, file TEXT, pages TEXT, segments TEXT NOT NULL, outcomes TEXT NOT NULL,
    UNIQUE (job_id, seq)
  ) STRICT;
  CREATE INDEX batches_pending ON batches (job_id, state, seq) WHERE state <> 'done';
  CREATE INDEX batches_claimed ON batches (lease_until) WHERE state = 'claimed';
  CREATE INDEX batches_waiting ON batches (job_id, region, seq) WHERE state = 'waiting';
  CREATE INDEX batches_by_wait ON batches (job_id, wait ->> 'until') WHERE wait IS NOT NULL;
  CREATE INDEX batches_published ON batches (published_at) WHERE state = 'queued';

  CREATE TABLE batch_units (
    batch_id TEXT PRIMARY KEY REFERENCES batches (id) ON DELETE CASCADE, units TEXT NOT NULL
  ) STRICT;

  CREATE TABLE unit_keys (
    job_id TEXT NOT NULL, key TEXT NOT NULL, seq INTEGER NOT NULL, PRIMARY KEY (job_id, key, seq)
  ) STRICT, WITHOUT ROWID;

  CREATE TABLE origins (
    origin TEXT PRIMARY KEY, next_free REAL NOT NULL DEFAULT 0,
    revision INTEGER NOT NULL DEFAULT 0, paused_until REAL NOT NULL DEFAULT 0, reason TEXT NOT NULL DEFAULT '',
    failures INTEGER NOT NULL DEFAULT 0, since REAL NOT NULL DEFAULT 0, probing INTEGER NOT NULL DEFAULT 0,
    held_until REAL NOT NULL DEFAULT 0, holdings TEXT NOT NULL DEFAULT '[]'
  ) STRICT;

  CREATE TABLE void_ledger_keys (key TEXT PRIMARY KEY, at REAL NOT NULL) STRICT, WITHOUT ROWID;
`;

/** Creates the tables of a new file. */
const currentSchema = Object.values(declarations).map(createTable).join('\n') + ownTables;

/**
 * Due times of jobs (job-states.ts), places of kept pages, and an index for the list of all
 * schedules.
 */
const secondVersion = `
  ${createTable(declarations.pagePlaces)}
  CREATE INDEX schedules_by_created_at_id ON schedules (created_at, id);
  ALTER TABLE jobs ADD COLUMN due_at REAL;
  UPDATE jobs SET due_at = CASE
    WHEN state = 'awaiting_approval' THEN decide_by
    WHEN state IN ('approved', 'processing') THEN state_since
    ELSE state_since + 30000
  END WHERE finished_at IS NULL AND state NOT IN ('writing', 'removing');
  DROP INDEX jobs_by_deadline;
  CREATE INDEX jobs_by_due ON jobs (due_at) WHERE due_at IS NOT NULL;
`;

/** Indexes of the jobs before they were declared. */
export const formerIndexes = [
  ...['number', 'time', 'user', 'state', 'due', 'notice', 'retried', 'reread'].map(
    (by) => `jobs_by_${by}`,
  ),
  ...['pages', 'end', 'file_deletion', 'mode'].map((by) => `jobs_by_${by}`),
  'jobs_with_pages',
  'jobs_with_files_by_end',
  'test_jobs_with_files_by_end',
];

/** Declared indexes of the jobs. */
const thirdVersion = [
  ...formerIndexes.map((name) => `DROP INDEX ${name};`),
  ...createIndexes(declarations.jobs),
].join('\n');

/** Repeated removals of deleted files. */
const removalsVersion = createTable(declarations.fileRemovals);

/**
 * Units of tracked items, and the order of their readings, which a single unit and job stood for
 * before.
 */
function unitsVersion(database: DatabaseSync): void {
  database.function('unit_in_series', { deterministic: true }, (series, unit) =>
    unitInSeries(String(series), String(unit)),
  );
  database.exec(`
    ${createTable(declarations.itemUnits)}
    INSERT INTO item_units (user_id, unit, item_id)
      SELECT user_id, unit_in_series(series, source), id FROM tracked_items WHERE series <> '' AND is_present;
    ALTER TABLE tracked_items ADD COLUMN read_at REAL NOT NULL DEFAULT 0;
    ALTER TABLE tracked_items ADD COLUMN units TEXT NOT NULL DEFAULT '{}';
    ALTER TABLE tracked_items ADD COLUMN unread_units TEXT NOT NULL DEFAULT '[]';
    ALTER TABLE tracked_items ADD COLUMN found_job TEXT NOT NULL DEFAULT '';
    ALTER TABLE tracked_items ADD COLUMN found_batch INTEGER NOT NULL DEFAULT 0;
    ALTER TABLE tracked_items ADD COLUMN revision INTEGER NOT NULL DEFAULT 0;
    UPDATE tracked_items SET read_at = seen_at, found_job = seen_job, found_batch = seen_batch;
    UPDATE tracked_items SET units = json_object(unit_in_series(series, source), seen_at) WHERE series <> '';
    DROP INDEX tracked_items_by_user_id_series_source_set;
    CREATE INDEX tracked_items_by_user_id_key_market ON tracked_items (user_id, key, market);
    ALTER TABLE tracked_items DROP COLUMN source;
    ALTER TABLE tracked_items DROP COLUMN seen_batch;
    ALTER TABLE tracking_runs ADD COLUMN failed_at REAL;
    ALTER TABLE tracking_runs ADD COLUMN is_skipped INTEGER NOT NULL DEFAULT 0;
  `);
}

/** A change of a file: statements, or a function that executes them. */
type Migration = string | ((database: DatabaseSync) => void);

/**
 * Migrations in order. `user_version` is the number of applied ones. The first creates the current
 * tables of a new file, which needs no other. Append a migration for every change of a table that
 * was released.
 */
export const migrations: readonly Migration[] = [
  currentSchema,
  secondVersion,
  thirdVersion,
  removalsVersion,
  unitsVersion,
];

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
      for (const step of found === 0 ? steps.slice(0, 1) : steps.slice(found))
        if (typeof step === 'string') database.exec(step);
        else step(database);
      database.exec(`PRAGMA user_version = ${steps.length}; COMMIT`);
    } catch (thrown) {
      database.exec('ROLLBACK');
      throw thrown;
    }
  }
  if (version() > steps.length)
    throw new NewerDataError(`SQLite file ${path}`, version(), steps.length);
}
