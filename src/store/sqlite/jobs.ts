import { setImmediate as nextTurn } from 'node:timers/promises';
import { Fault } from '../../contract/fault.ts';
import type { Batch } from '../batches.ts';
import { type Collection, inChunks } from '../collection.ts';
import { declarations } from '../collections.ts';
import type { DeletedJob, Job } from '../documents.ts';
import { deletedFault, type JobStore, moveJob, removedFault } from '../jobs.ts';
import type { SqliteConnection, Value } from './connection.ts';
import { isDuplicate, type SqliteEngine } from './engine.ts';
import { batchMapping } from './progress.ts';
import { mapRows, visibleIn } from './sql.ts';

const jobs = mapRows<Job>(declarations.jobs);
const deletedJobs = mapRows<DeletedJob>(declarations.deletedJobs);

/** Condition of jobs that readers see: neither being written nor being removed. */
export const visible = visibleIn(declarations.jobs.hidden!);

/** Batches written per transaction, which blocks the process for some ten milliseconds. */
const chunkSize = 50;

/**
 * Creates the SQLite implementation of JobStore. A job that is being written has a row in the
 * hidden state `writing`, so that batches always have a job and leftovers of a crash are easy to
 * find. Writing a job and moving it to a passing state do not wait for the disk: the transition
 * that is acknowledged next does, and makes all earlier writes durable.
 */
export function jobStore(engine: SqliteEngine, declared: Collection<Job>): JobStore {
  const { relaxed } = engine;
  return {
    ...declared,

    create: async (job, source) => {
      const chunks = inChunks(source, chunkSize)[Symbol.iterator]();
      for (let writtenBefore = 0; ; writtenBefore += chunkSize) {
        const chunk: Batch[] = chunks.next().value ?? [];
        // A job of few batches is written in one transaction.
        const hasMore = relaxed.write(() => writeChunk(relaxed, job, chunk, writtenBefore));
        if (!hasMore) return;
        await nextTurn();
      }
    },

    move: (...parameters) => moveJob(declared, parameters),

    delete: async (jobId, summary) => {
      const isHidden = engine.write(() => {
        const which =
          summary === null ? `state = 'discarding'` : `finished_at IS NOT NULL AND ${visible}`;
        if (!hide(engine, jobId, which)) return false;
        if (summary !== null) engine.run(insertDeleted, ...deletedJobs.values(summary));
        return true;
      });
      if (isHidden) await finishRemoval(relaxed, jobId);
      return isHidden;
    },

    deleteOrphanedBatches: async (before) => {
      const orphaned = `(state = 'removing' OR state = 'writing' AND created_at < ?)`;
      const left = engine.all<{ id: string }>(`SELECT id FROM jobs WHERE ${orphaned}`, before);
      let removed = 0;
      for (const { id } of left)
        if (hide(relaxed, id, orphaned, before)) removed += await finishRemoval(relaxed, id);
      return removed;
    },

    sumBytes: async (userId, of) =>
      engine.get<{ bytes: number }>(of === 'pages' ? pageBytes : resultBytes, userId)!.bytes,
  };
}

const insertDeleted = `
  INSERT INTO deleted_jobs (${deletedJobs.columns})
  VALUES (${deletedJobs.marks})
  ON CONFLICT DO NOTHING
`;

const pagesOfBatches = 'SELECT sum(page_bytes) FROM batches WHERE job_id = jobs.id';
/** The counts of an ended job include the bytes of its pages. */
const pageBytes = `
  SELECT coalesce(sum(coalesce(counts ->> '$.pages.bytes', (${pagesOfBatches}), 0)), 0) AS bytes
  FROM jobs
  WHERE user_id = ? AND pages_until IS NOT NULL AND files_deleted_at IS NULL
`;

const storedOfBatches = 'SELECT coalesce(sum(stored_bytes), 0) FROM batches WHERE job_id = jobs.id';
const resultBytes = `
  SELECT coalesce(sum(coalesce(file ->> 'bytes', 0) + (${storedOfBatches})), 0) AS bytes
  FROM jobs
  WHERE user_id = ? AND files_deleted_at IS NULL
`;

/** Hides a job that meets a condition. Returns false if there is none. */
function hide(
  engine: SqliteConnection,
  jobId: string,
  condition: string,
  ...values: Value[]
): boolean {
  const sql = `
    UPDATE jobs SET state = 'removing', due_at = NULL, notice_at = NULL
    WHERE id = ? AND ${condition}
  `;
  return engine.run(sql, jobId, ...values) === 1;
}

/** Batches deleted per transaction. Each blocks the process for about 10 ms. */
const removalSize = 50;
const keyChunkSize = 1_000;

/** Deletes the batches of a hidden job, and the job. Returns the number of batches. */
async function finishRemoval(relaxed: SqliteConnection, jobId: string): Promise<number> {
  const deleteAll = async (sql: string, size: number): Promise<number> => {
    let total = 0;
    for (;;) {
      const deleted = relaxed.run(sql, jobId, size);
      total += deleted;
      await nextTurn();
      if (deleted < size) return total;
    }
  };
  const batches = await deleteAll(
    'DELETE FROM batches WHERE id IN (SELECT id FROM batches WHERE job_id = ? LIMIT ?)',
    removalSize,
  );
  await deleteAll(
    `DELETE FROM unit_keys WHERE job_id = ?1
     AND (key, seq) IN (SELECT key, seq FROM unit_keys WHERE job_id = ?1 LIMIT ?2)`,
    keyChunkSize,
  );
  await deleteAll(
    'DELETE FROM deliveries WHERE id IN (SELECT id FROM deliveries WHERE job_id = ? LIMIT ?)',
    keyChunkSize,
  );
  await deleteAll(
    `DELETE FROM item_changes WHERE id IN
       (SELECT id FROM item_changes WHERE id > ?1 || '/' AND id < ?1 || '0' LIMIT ?2)`,
    keyChunkSize,
  );
  relaxed.run('DELETE FROM tracking_runs WHERE job_id = ?', jobId);
  relaxed.run(`DELETE FROM jobs WHERE id = ? AND state = 'removing'`, jobId);
  return batches;
}

/**
 * Inserts the row that batches belong to. Returns false if the job is already written. Must run in
 * a transaction.
 */
function openDraft(engine: SqliteConnection, job: Job): boolean {
  const stored = engine.get<{ state: string }>('SELECT state FROM jobs WHERE id = ?', job.id);
  if (stored?.state === 'removing') throw removedFault(job.id);
  if (stored) return stored.state === 'writing';
  if (engine.get('SELECT 1 FROM deleted_jobs WHERE id = ?', job.id)) throw deletedFault(job.id);
  const values = jobs.values({ ...job, state: 'writing' as Job['state'], dueAt: null });
  try {
    engine.run(`INSERT INTO jobs (${jobs.columns}) VALUES (${jobs.marks})`, ...values);
  } catch (thrown) {
    if (isDuplicate(thrown))
      throw new Fault('conflict', `another job already has the number ${job.number}`);
    throw thrown;
  }
  return true;
}

/**
 * Writes the next batches of a job, of which `writtenBefore` were written, and with the last ones
 * the job. Returns false if nothing is left to write. Must run in a transaction.
 */
function writeChunk(
  engine: SqliteConnection,
  job: Job,
  chunk: readonly Batch[],
  writtenBefore: number,
): boolean {
  const isFirst = writtenBefore === 0;
  if (isFirst && !openDraft(engine, job)) return false;
  if (!isFirst && !isDraft(engine, job.id)) {
    completeDraft(engine, job, writtenBefore);
    return false;
  }
  for (const batch of chunk) insertBatch(engine, batch);
  const isLast = chunk.length < chunkSize;
  if (isLast) completeDraft(engine, job, writtenBefore + chunk.length);
  return !isLast;
}

function isDraft(engine: SqliteConnection, jobId: string): boolean {
  const stored = engine.get<{ state: string }>('SELECT state FROM jobs WHERE id = ?', jobId);
  return stored?.state === 'writing';
}

/** Turns the draft into a job, unless another call did. `written`: batches that must exist. */
function completeDraft(engine: SqliteConnection, job: Job, written: number): void {
  const { state, count } = engine.get<{ state: string | null; count: number }>(
    `SELECT (SELECT state FROM jobs WHERE id = ?1) AS state, count(*) AS count
     FROM batches
     WHERE job_id = ?1`,
    job.id,
  )!;
  if (state !== null && state !== 'writing' && state !== 'removing') return;
  // Deleted concurrently, and perhaps started again by a call in progress.
  if (state !== 'writing' || count < written) throw removedFault(job.id);
  const columns = jobs.columns.split(', ').map((column) => `${column} = ?`);
  engine.run(`UPDATE jobs SET ${columns.join(', ')} WHERE id = ?`, ...jobs.values(job), job.id);
}

/** Stores a batch, unless one with its id or position exists. */
function insertBatch(engine: SqliteConnection, batch: Batch): void {
  const { units, ...row } = batch;
  const inserted = engine.run(
    `INSERT INTO batches (${batchMapping.columns})
     VALUES (${batchMapping.marks})
     ON CONFLICT DO NOTHING`,
    ...batchMapping.values({ ...row, total: units.length }),
  );
  if (inserted === 0) return;
  engine.run(
    'INSERT INTO batch_units (batch_id, units) VALUES (?, ?)',
    batch.id,
    JSON.stringify(units),
  );
  for (const { key } of units) {
    engine.run(
      'INSERT INTO unit_keys (job_id, key, seq) VALUES (?, ?, ?) ON CONFLICT DO NOTHING',
      batch.jobId,
      key,
      batch.seq,
    );
  }
}
