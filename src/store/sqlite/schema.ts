import type { DatabaseSync } from 'node:sqlite';
import { NewerDataError } from '../../base/data-refused-error.ts';

/**
 * Migrations from an empty file to the current tables, in order. `user_version` is the number of applied ones.
 * Never edit a released migration; append a new one. Times are REAL to accept fractions of a millisecond. Large
 * values are in the last column or in a separate table, so that counting and claiming do not read them.
 */
export const migrations: readonly string[] = [
  `CREATE TABLE users (
    id TEXT PRIMARY KEY, name TEXT NOT NULL, email TEXT NOT NULL, role TEXT NOT NULL,
    balance INTEGER NOT NULL, created_at REAL NOT NULL,
    suspended_at REAL, deleted_at REAL, erased INTEGER NOT NULL, test_of TEXT
  ) STRICT;
  CREATE INDEX users_by_role ON users (role, created_at, id);
  CREATE INDEX users_by_deletion ON users (deleted_at, id) WHERE deleted_at IS NOT NULL AND erased = 0;

  CREATE TABLE api_keys (
    id TEXT PRIMARY KEY, user_id TEXT NOT NULL, role TEXT NOT NULL, name TEXT NOT NULL,
    hash TEXT NOT NULL UNIQUE, prefix TEXT NOT NULL,
    created_at REAL NOT NULL, expires_at REAL, revoked_at REAL,
    last_used_at REAL, scopes TEXT, operator_role TEXT, credit_ceiling INTEGER, credits_spent INTEGER NOT NULL
  ) STRICT;
  CREATE INDEX api_keys_by_user ON api_keys (user_id, created_at, id);

  CREATE TABLE ledger (
    key TEXT PRIMARY KEY, user_id TEXT NOT NULL REFERENCES users (id), amount INTEGER NOT NULL,
    type TEXT NOT NULL, job_id TEXT, note TEXT NOT NULL, created_at REAL NOT NULL,
    key_id TEXT
  ) STRICT;
  CREATE INDEX ledger_by_user ON ledger (user_id, created_at, key);
  CREATE INDEX ledger_by_time ON ledger (created_at, key);

  CREATE TABLE jobs (
    id TEXT PRIMARY KEY, number INTEGER UNIQUE, user_id TEXT NOT NULL, market TEXT NOT NULL, kind TEXT NOT NULL,
    region TEXT NOT NULL, lane TEXT NOT NULL, state TEXT NOT NULL, state_since REAL NOT NULL,
    unit_price INTEGER NOT NULL, cost INTEGER NOT NULL, refunded INTEGER NOT NULL,
    total_units INTEGER NOT NULL, total_batches INTEGER NOT NULL, created_at REAL NOT NULL,
    decide_by REAL, decided_by TEXT, reason TEXT NOT NULL, started_at REAL, finished_at REAL,
    mode TEXT NOT NULL, key_id TEXT, retry_of TEXT, counts TEXT, resumable INTEGER NOT NULL,
    hold TEXT, reused_unit_price INTEGER,
    notice_due TEXT, notice_at REAL, files_deleted_at REAL, file_deletion_due INTEGER NOT NULL,
    options TEXT NOT NULL, file TEXT, params TEXT NOT NULL
  ) STRICT;
  CREATE INDEX jobs_by_time ON jobs (created_at, id);
  CREATE INDEX jobs_by_user ON jobs (user_id, created_at, id);
  CREATE INDEX jobs_by_state ON jobs (state, state_since);
  CREATE INDEX jobs_by_deadline ON jobs (decide_by) WHERE state = 'awaiting_approval';
  CREATE INDEX jobs_by_notice ON jobs (notice_at) WHERE notice_at IS NOT NULL;
  CREATE INDEX jobs_by_retried ON jobs (retry_of) WHERE retry_of IS NOT NULL;
  CREATE INDEX jobs_by_end ON jobs (finished_at, id) WHERE finished_at IS NOT NULL;
  CREATE INDEX jobs_with_files_by_end ON jobs (finished_at, id)
    WHERE finished_at IS NOT NULL AND files_deleted_at IS NULL;
  CREATE INDEX test_jobs_with_files_by_end ON jobs (finished_at, id)
    WHERE finished_at IS NOT NULL AND files_deleted_at IS NULL AND mode = 'test';
  CREATE INDEX jobs_by_file_deletion ON jobs (id) WHERE file_deletion_due = 1;
  CREATE INDEX jobs_by_mode ON jobs (mode, created_at, id);

  CREATE TABLE batches (
    id TEXT PRIMARY KEY, job_id TEXT NOT NULL REFERENCES jobs (id) ON DELETE CASCADE, seq INTEGER NOT NULL,
    market TEXT NOT NULL, region TEXT NOT NULL, lane TEXT NOT NULL, total INTEGER NOT NULL,
    success INTEGER NOT NULL, failed INTEGER NOT NULL, stored_bytes INTEGER NOT NULL,
    state TEXT NOT NULL, attempt INTEGER NOT NULL, queued_at REAL, published_at REAL, lease_until REAL, not_before REAL, ended_at REAL,
    wait TEXT, stalled_claims INTEGER NOT NULL, solo TEXT, file TEXT, parts TEXT NOT NULL, outcomes TEXT NOT NULL,
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

  CREATE TABLE sequences (name TEXT PRIMARY KEY, value INTEGER NOT NULL) STRICT;

  CREATE TABLE submissions (
    user_id TEXT NOT NULL, idempotency_key TEXT NOT NULL, body_hash TEXT NOT NULL, job_id TEXT NOT NULL,
    created_at REAL NOT NULL, interrupted INTEGER NOT NULL, response TEXT, PRIMARY KEY (user_id, idempotency_key)
  ) STRICT;
  CREATE INDEX submissions_by_time ON submissions (created_at);

  CREATE TABLE crawls (key TEXT PRIMARY KEY, at REAL NOT NULL, body BLOB NOT NULL) STRICT;
  CREATE INDEX crawls_by_time ON crawls (at);

  CREATE TABLE origins (
    origin TEXT PRIMARY KEY, next_free REAL NOT NULL DEFAULT 0,
    change INTEGER NOT NULL DEFAULT 0, paused_until REAL NOT NULL DEFAULT 0, reason TEXT NOT NULL DEFAULT '',
    strikes INTEGER NOT NULL DEFAULT 0, since REAL NOT NULL DEFAULT 0, probing INTEGER NOT NULL DEFAULT 0,
    held_until REAL NOT NULL DEFAULT 0, holdings TEXT NOT NULL DEFAULT '[]'
  ) STRICT;

  CREATE TABLE drift (
    market TEXT NOT NULL, page TEXT NOT NULL, revision INTEGER NOT NULL, state TEXT NOT NULL,
    PRIMARY KEY (market, page)
  ) STRICT;

  CREATE TABLE webhooks (
    user_id TEXT PRIMARY KEY, url TEXT NOT NULL, enabled INTEGER NOT NULL, secret TEXT NOT NULL,
    previous_secret TEXT, previous_until REAL, updated_at REAL NOT NULL, revision INTEGER NOT NULL
  ) STRICT;

  CREATE TABLE deliveries (
    id TEXT PRIMARY KEY, key TEXT NOT NULL UNIQUE, user_id TEXT, channel TEXT NOT NULL, type TEXT NOT NULL,
    job_id TEXT, target TEXT NOT NULL, state TEXT NOT NULL, attempts INTEGER NOT NULL,
    attempts_before INTEGER NOT NULL, take INTEGER NOT NULL, created_at REAL NOT NULL, next_attempt_at REAL,
    ended_at REAL, response_status INTEGER, error TEXT NOT NULL, destination_id TEXT, body TEXT NOT NULL
  ) STRICT;
  CREATE INDEX deliveries_due ON deliveries (next_attempt_at) WHERE next_attempt_at IS NOT NULL;
  CREATE INDEX deliveries_by_user ON deliveries (user_id, created_at, id);
  CREATE INDEX deliveries_by_time ON deliveries (created_at, id);
  CREATE INDEX deliveries_by_job ON deliveries (job_id) WHERE job_id IS NOT NULL;

  CREATE TABLE processes (
    id TEXT PRIMARY KEY, role TEXT NOT NULL, host TEXT NOT NULL, pid INTEGER NOT NULL, version TEXT NOT NULL,
    started_at REAL NOT NULL, seen_at REAL NOT NULL, memory_bytes INTEGER NOT NULL, batches INTEGER NOT NULL,
    units_done INTEGER NOT NULL,
    paused TEXT NOT NULL, clock_skew_ms INTEGER NOT NULL, workers INTEGER NOT NULL
  ) STRICT;

  CREATE TABLE origin_minutes (
    minute REAL NOT NULL, origin TEXT NOT NULL, market TEXT NOT NULL, region TEXT NOT NULL,
    requests INTEGER NOT NULL, refused INTEGER NOT NULL, failed INTEGER NOT NULL, milliseconds REAL NOT NULL,
    PRIMARY KEY (minute, origin, market, region)
  ) STRICT, WITHOUT ROWID;

  CREATE TABLE void_ledger_keys (key TEXT PRIMARY KEY, at REAL NOT NULL) STRICT, WITHOUT ROWID;

  CREATE TABLE sessions (
    hash TEXT PRIMARY KEY, user_id TEXT NOT NULL, key_id TEXT NOT NULL, created_at REAL NOT NULL,
    expires_at REAL NOT NULL
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX sessions_by_user ON sessions (user_id, created_at, hash);
  CREATE INDEX sessions_by_expiry ON sessions (expires_at);

  CREATE TABLE audit_log (
    id TEXT PRIMARY KEY, created_at REAL NOT NULL, actor_id TEXT NOT NULL, role TEXT NOT NULL, key_id TEXT NOT NULL,
    action TEXT NOT NULL, target TEXT NOT NULL, source TEXT NOT NULL, outcome TEXT NOT NULL, detail TEXT NOT NULL
  ) STRICT;
  CREATE INDEX audit_log_by_time ON audit_log (created_at, id);
  CREATE INDEX audit_log_by_actor ON audit_log (actor_id, created_at, id);
  CREATE INDEX audit_log_by_target ON audit_log (target, created_at, id);

  CREATE TABLE deleted_jobs (
    id TEXT PRIMARY KEY, user_id TEXT NOT NULL, market TEXT NOT NULL, kind TEXT NOT NULL, state TEXT NOT NULL,
    unit_price INTEGER NOT NULL, cost INTEGER NOT NULL, refunded INTEGER NOT NULL, total_units INTEGER NOT NULL,
    success INTEGER NOT NULL, failed INTEGER NOT NULL, created_at REAL NOT NULL, finished_at REAL,
    discount INTEGER NOT NULL, deleted_at REAL NOT NULL
  ) STRICT;
  CREATE INDEX deleted_jobs_by_user ON deleted_jobs (user_id, created_at, id);

  CREATE TABLE destinations (
    id TEXT PRIMARY KEY, user_id TEXT NOT NULL, name TEXT NOT NULL, type TEXT NOT NULL, address TEXT NOT NULL,
    secrets TEXT NOT NULL, secrets_key TEXT NOT NULL, format TEXT NOT NULL, path TEXT NOT NULL,
    created_at REAL NOT NULL, updated_at REAL NOT NULL, revision INTEGER NOT NULL, UNIQUE (user_id, name)
  ) STRICT;
  CREATE INDEX destinations_by_secrets_key ON destinations (secrets_key, id);

  CREATE TABLE schedules (
    id TEXT PRIMARY KEY, user_id TEXT NOT NULL, key_id TEXT NOT NULL, name TEXT NOT NULL, market TEXT NOT NULL,
    kind TEXT NOT NULL, options TEXT NOT NULL, units INTEGER NOT NULL, cron TEXT NOT NULL, time_zone TEXT NOT NULL,
    start_at REAL, end_at REAL, max_total_credits INTEGER, overlap TEXT NOT NULL, missed TEXT NOT NULL,
    state TEXT NOT NULL, state_since REAL NOT NULL, reason TEXT NOT NULL, approved_by TEXT, next_run_at REAL,
    due_at REAL, pending TEXT, open_runs TEXT NOT NULL, credits_spent INTEGER NOT NULL, failures INTEGER NOT NULL,
    notice TEXT, created_at REAL NOT NULL, updated_at REAL NOT NULL, revision INTEGER NOT NULL,
    decide_by REAL, notice_at REAL, request TEXT NOT NULL
  ) STRICT;
  CREATE INDEX schedules_due ON schedules (due_at, id) WHERE due_at IS NOT NULL;
  CREATE INDEX schedules_by_user ON schedules (user_id, created_at, id);
  CREATE INDEX schedules_by_state ON schedules (state, created_at, id);
  CREATE INDEX schedules_notice ON schedules (notice_at, id) WHERE notice_at IS NOT NULL;

  CREATE TABLE schedule_runs (
    id TEXT PRIMARY KEY, schedule_id TEXT NOT NULL, user_id TEXT NOT NULL, scheduled_for REAL NOT NULL,
    created_at REAL NOT NULL, trigger TEXT NOT NULL, state TEXT NOT NULL, reason TEXT NOT NULL, job_id TEXT,
    cost INTEGER NOT NULL, refunded INTEGER NOT NULL, ended_at REAL, revision INTEGER NOT NULL
  ) STRICT;
  CREATE INDEX schedule_runs_by_schedule ON schedule_runs (schedule_id, created_at, id);
  CREATE INDEX schedule_runs_by_time ON schedule_runs (created_at);
  CREATE INDEX schedule_runs_by_user ON schedule_runs (user_id);

  CREATE TABLE tracking_runs (
    job_id TEXT PRIMARY KEY, user_id TEXT NOT NULL, market TEXT NOT NULL, kind TEXT NOT NULL, series TEXT NOT NULL,
    at REAL NOT NULL, due_at REAL, take INTEGER NOT NULL, stage TEXT NOT NULL, next_batch INTEGER NOT NULL,
    counts TEXT NOT NULL, messages INTEGER NOT NULL, done_at REAL,
    turn TEXT
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX tracking_runs_due ON tracking_runs (due_at) WHERE due_at IS NOT NULL;
  CREATE INDEX tracking_runs_by_user ON tracking_runs (user_id, series, at);
  CREATE INDEX tracking_runs_by_end ON tracking_runs (done_at) WHERE done_at IS NOT NULL;
  CREATE INDEX tracking_runs_by_turn ON tracking_runs (user_id, at, job_id) WHERE due_at IS NOT NULL;
  CREATE UNIQUE INDEX tracking_runs_active ON tracking_runs (user_id) WHERE turn = 'active';

  CREATE TABLE tracked_items (
    id TEXT PRIMARY KEY, user_id TEXT NOT NULL, series TEXT NOT NULL, market TEXT NOT NULL, region TEXT NOT NULL,
    key TEXT NOT NULL, source TEXT NOT NULL, is_present INTEGER NOT NULL, first_at REAL NOT NULL,
    changed_at REAL NOT NULL, changed_job TEXT NOT NULL, seen_at REAL NOT NULL, seen_job TEXT NOT NULL,
    seen_batch INTEGER NOT NULL, item_values TEXT NOT NULL, rules TEXT NOT NULL
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX tracked_items_by_change ON tracked_items (user_id, series, changed_at, id);
  CREATE INDEX tracked_items_by_source ON tracked_items (user_id, series, source) WHERE series <> '';

  CREATE TABLE observations (
    user_id TEXT NOT NULL, market TEXT NOT NULL, region TEXT NOT NULL, key TEXT NOT NULL, at REAL NOT NULL,
    job_id TEXT NOT NULL, ended_at REAL, changed TEXT NOT NULL, item_values TEXT NOT NULL,
    PRIMARY KEY (user_id, market, region, key, at, job_id)
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX observations_by_end ON observations (ended_at) WHERE ended_at IS NOT NULL;

  CREATE TABLE item_changes (
    id TEXT PRIMARY KEY, user_id TEXT NOT NULL, job_id TEXT NOT NULL, market TEXT NOT NULL, region TEXT NOT NULL,
    key TEXT NOT NULL, type TEXT NOT NULL, at REAL NOT NULL, title TEXT, before TEXT NOT NULL, after TEXT NOT NULL
  ) STRICT, WITHOUT ROWID;

  CREATE TABLE rules (
    id TEXT PRIMARY KEY, user_id TEXT NOT NULL, name TEXT NOT NULL, condition TEXT NOT NULL, threshold REAL,
    field TEXT NOT NULL, market TEXT NOT NULL, region TEXT NOT NULL, key TEXT NOT NULL, series TEXT NOT NULL,
    channel TEXT NOT NULL, enabled INTEGER NOT NULL, created_at REAL NOT NULL, updated_at REAL NOT NULL,
    revision INTEGER NOT NULL
  ) STRICT;
  CREATE INDEX rules_by_user ON rules (user_id, created_at, id);`,
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
      for (const step of steps.slice(version())) database.exec(step);
      database.exec(`PRAGMA user_version = ${steps.length}; COMMIT`);
    } catch (thrown) {
      database.exec('ROLLBACK');
      throw thrown;
    }
  }
  if (version() > steps.length) throw new NewerDataError(`SQLite file ${path}`, version(), steps.length);
}
